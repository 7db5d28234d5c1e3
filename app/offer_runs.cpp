#include "app/offers.hpp"
#include "app/shared_options.hpp"
#include "io/file/partial.hpp"
#include "job/signals.hpp"

namespace spillway {

void offer_train(CLI::App& app, Request& request, TrainArguments& train) {
  auto* command = app.add_subcommand("train", "train as an input file says");
  command->add_option("input", train.input, "input file")->required()->check(is_path);
  command->add_option("overrides", train.overrides, "key=value, after the file; the last one wins");
  command->footer(
      "A value is taken as it stands. Lists stand in brackets: data.train=[a.h5,b.h5]. In paths "
      "$VAR and a leading ~/ are expanded. --kokkos-tools-libs=FILE loads a tool of Kokkos "
      "(docs/trace.md).");
  command->callback([&] {
    install_stop_signals();  // a batch system may send a signal before MPI has started
    request.ranked = [&](Comm& comm) { return run_train(train, comm); };
  });
}

void offer_eval(CLI::App& app, Request& request, EvalArguments& eval) {
  auto* command = app.add_subcommand("eval", "loss and perplexity on the validation set");
  command->add_option("input", eval.input, "input file")->required()->check(is_path);
  command->add_option("overrides", eval.overrides, "key=value");
  command
      ->add_option("--checkpoint", eval.checkpoints,
                   "checkpoint, a run directory: its newest, or a directory of Hugging Face or "
                   "PEFT; several may be given, each with this word")
      ->required()
      ->allow_extra_args(false)
      ->check(is_path);
  offer_base(*command, eval.base);
  command->add_option("--batches", eval.batches, "how many at most; without it: the whole set")
      ->check(CLI::Range(std::int64_t{1}, kMostBatches));
  command->add_flag("--json", eval.json, "print a JSON object (docs/outputs.md)");
  command->callback([&] { request.ranked = [&](Comm& comm) { return run_eval(eval, comm); }; });
}

void offer_profile(CLI::App& app, Request& request, ProfileArguments& profile) {
  auto* command = app.add_subcommand("profile", "measure ops and links of this machine");
  command->add_option("input", profile.input, "input file")->required()->check(is_path);
  command->add_option("overrides", profile.overrides, "key=value");
  command->add_option("-o,--output", profile.output, "machine file to write")
      ->required()
      ->check(is_path);
  offer_force(*command, profile.force, kForceFile);
  command->callback([&] {
    end_on_signals_without_partials();
    request.ranked = [&](Comm& comm) { return run_profile(profile, comm); };
  });
}

void offer_rok(CLI::App& app, Request& request, RokArguments& rok) {
  auto* command = app.add_subcommand(
      "rok", "recompute / offload / keep curve: device peak against step time, measured");
  command->add_option("input", rok.input, "input file")->required()->check(is_path);
  command->add_option("overrides", rok.overrides, "key=value");
  command
      ->add_option("-o,--output", rok.output,
                   "CSV file to write, and the chart beside it, *.svg; either may be named")
      ->capture_default_str()
      ->check(is_path);
  command->add_option("--svg", rok.svg, "the chart, where it is not to lie beside the table")
      ->check(is_path);
  offer_force(*command, rok.force, "replace these files also if this program did not make them");
  offer_numbers(
      *command, "--micro", rok.micros,
      "sequences per step, e.g. 1,2,4; without it: batch.micro, half of it and the double", 1,
      1 << 20);
  command->add_option("--steps", rok.steps, "per point, of which the first is not counted")
      ->check(CLI::Range(4, 1000))
      ->capture_default_str();
  command->footer(
      "Trains for a few steps at every point, one process and one micro-batch a step: with all "
      "layers' activations treated alike, and as the planner decides within three budgets. Only "
      "activations differ: other places that are `auto` stay on the device. Without data.train "
      "tokens are random, and model.vocab must be given. Nothing is kept but the curve.");
  command->callback([&] {
    end_on_signals_without_partials();
    request.ranked = [&](Comm& comm) { return run_rok(rok, comm); };
  });
}

}  // namespace spillway
