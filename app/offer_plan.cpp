#include "app/offers.hpp"
#include "app/shared_options.hpp"
#include "app/token_count.hpp"
#include "io/file/partial.hpp"

namespace spillway {

void offer_plan(CLI::App& app, Request& request, PlanArguments& plan) {
  auto* command =
      app.add_subcommand("plan", "plan a run, for this machine or one that is not here");
  command->add_option("input", plan.input, "input file")->required()->check(is_path);
  command->add_option("overrides", plan.overrides, "key=value");
  command->add_option("--machine", plan.machine, "machine file; without it: this machine")
      ->check(is_path);
  offer_numbers(*command, "--ranks", plan.all_ranks,
                "of the run [1]; several, such as 1,2,4, make a table", 1, kMostRanks);
  command->add_flag("--json", plan.json, "for programs: JSON, and nothing else, on stdout");
  command->add_option("--save", plan.save, "file to write the plan to, as YAML for plan.file")
      ->check(is_path);
  command
      ->add_option("--trace", plan.trace,
                   "file to write the predicted step to, as a trace for Perfetto (docs/trace.md)")
      ->check(is_path);
  offer_force(*command, plan.force, kForceFile);
  command->add_flag("--compare", plan.compare,
                    "what other plans would cost, and what 1 GiB more would buy; takes longer");
  command->add_flag("--what-if", plan.what_if,
                    "instead, a table of what twice the memory, one more drive, faster links and "
                    "no clipping would change");
  command->add_flag("--items", plan.items,
                    "instead, every item of a step: its lane, its buffers, what it waits for");
  command
      ->add_option_function<std::string>(
          "--tokens", [&plan](std::string const& text) { plan.tokens = token_count(text); },
          "also how long a run over so many tokens takes, such as 100B, and what: energy, price "
          "and the drives' life")
      ->check(wrong_token_count)
      ->type_name("COUNT");
  command->add_option("--largest", plan.largest,
                      "instead, the largest value of this key that fits, and the fastest one: "
                      "model.layers, batch.micro, data.sequence");
  command
      ->add_option("--budgets", plan.budgets,
                   "instead, a table of plans by budget: device=8,12,16GiB, host=64,128GiB or "
                   "nvme=none,1TiB; once for each tier, with --budgets before each")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("TIER=LIST");
  command
      ->add_option("--machines", plan.machines,
                   "instead, a table of plans by machine: files with commas between them; with "
                   "--budgets, --optimizers or several --ranks, all combinations")
      ->check(is_path);
  command
      ->add_option("--optimizers", plan.optimizers,
                   "instead, a table of plans by optimizer, with the bytes that each keeps: "
                   "adamw,adamw_8bit,lion,sgd,adafactor,muon, or some of them")
      ->type_name("LIST");
  command->callback([&] {
    end_on_signals_without_partials();
    if (!plan.all_ranks.empty()) plan.ranks = plan.all_ranks.front();
    request.plain = [&] { return run_plan(plan); };
  });
}

}  // namespace spillway
