#include "state/resume.hpp"

#include <fmt/core.h>

#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "config/same_model.hpp"
#include "huggingface/imported_config.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_group.hpp"
#include "io/h5/earlier_checkpoints.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "model/model.hpp"
#include "state/checkpoints.hpp"

namespace spillway {
namespace {

Resumption read(std::filesystem::path const& directory, bool whole) {
  auto reader = std::make_shared<CheckpointReader>(directory);
  auto state = run_state(reader->run_strings(), directory.string());
  return {directory, std::move(state), whole, std::move(reader)};
}

// Such a directory is as good as the checkpoint that import makes of it.
Resumption read_model_directory(std::filesystem::path const& path) {
  auto directory = std::make_shared<ModelDirectory>(path);
  auto state = imported_state(directory->config());
  return {path, std::move(state), false, nullptr, std::move(directory)};
}

Resumption read_init(std::filesystem::path const& path) {
  return is_model_directory(path) ? read_model_directory(path) : read(checkpoint_at(path), false);
}

// The checkpoint of run.dir that the run goes on from, if it may and there is one.
std::optional<std::filesystem::path> latest_of(RunConfig const& run) {
  return run.checkpoint.resume == "never" ? std::nullopt : find_latest(run.dir);
}

std::optional<Resumption> choose(Config const& config) {
  auto const& resume = config.run.checkpoint.resume;
  if (auto const latest = latest_of(config.run)) return read(*latest, resume == "auto");
  if (!config.run.init.empty()) return read_init(config.run.init);
  if (resume == "weights") {
    throw Error(Status::bad_input,
                fmt::format("run.checkpoint.resume: weights: no checkpoint in {}, and run.init "
                            "names none",
                            config.run.dir));
  }
  return std::nullopt;
}

}  // namespace

void require_same_model(std::filesystem::path const& checkpoint, RunState const& state,
                        Config const& config, std::int64_t vocab) {
  auto there = parse_config(state.config, checkpoint.string(), {}, elsewhere), here = config;
  there.model = completed(there, state.vocab);
  here.model = completed(here, vocab);
  auto const difference = model_difference(there, here);
  if (difference.empty()) return;
  throw Error(Status::bad_input,
              fmt::format("{}: is of another model: {}", checkpoint.string(), difference));
}

RunState imported_state(Config const& config) {
  RunState state;
  state.seed = config.run.seed;
  state.vocab = config.model.vocab;
  state.tokenizer = kOwnTokenizer;
  state.config = to_yaml(config);
  return state;
}

bool starts_imported(Config const& config) {
  auto const& init = config.run.init;
  if (init.empty() || latest_of(config.run)) return false;
  return is_model_directory(init) || !open_checkpoint(init).carried().empty();
}

std::optional<Resumption> find_resumption(Config const& config, std::int64_t vocab) {
  auto const resumption = choose(config);
  if (resumption) require_same_model(resumption->checkpoint, resumption->state, config, vocab);
  return resumption;
}

CarriedFiles carried_by(std::optional<Resumption> const& resumption) {
  if (!resumption) return {};
  if (resumption->directory) return resumption->directory->carried();
  warn_of_strangers(*resumption->reader);
  auto found = read_carried(resumption->checkpoint, resumption->reader->carried());
  for (auto const& line : found.damaged)
    log_warning("{}; checkpoints of this run are without it, and so is what export makes of them",
                line);
  return std::move(found.files);
}

// The start's tokens have meanings that other files' tokens of the same numbers do not.
void say_other_tokens(Resumption const& resumption, std::string const& tokenizer) {
  auto const& learnt = resumption.state.tokenizer;
  if (tokenizer != kByteTokenizer || learnt == tokenizer) return;
  log_warning(
      "data.train has bytes as tokens, which {} has not learnt (its tokenizer: {}); docs/tokens.md "
      "makes files of its own tokens",
      resumption.checkpoint.string(), learnt);
}

void say_difference(Resumption const& resumption, Arithmetic const& arithmetic,
                    Config const& config) {
  auto const difference = describe_difference(resumption.state.arithmetic, arithmetic);
  if (!difference.empty()) {
    log_warning(
        "another arithmetic than the checkpoint's ({}): the run goes on to summation order, "
        "not to the bit",
        difference);
  }
  if (resumption.state.seed != config.run.seed) {
    log_warning("run.seed was {}: the data order changes from here on", resumption.state.seed);
  }
}

void restore(Resumption const& resumption, ModelState& model, Comm& comm) {
  if (resumption.directory) return restore_weights(*resumption.directory, model, comm);
  naming_older(resumption.checkpoint, [&] {
    if (resumption.whole) return restore_model(*resumption.reader, model, comm);
    CheckpointGroup weights(*resumption.reader, "model");
    restore_weights(weights, model, comm);
  });
}

RunState start_model(Config const& config, std::int64_t vocab, std::string const& tokenizer,
                     Arithmetic const& arithmetic, std::optional<Resumption> const& resumption,
                     ModelState& model, Comm& comm) {
  RunState state;
  if (!resumption) {
    model.initialise(config.run.seed);
  } else {
    restore(*resumption, model, comm);
    if (resumption->whole) state = resumption->state;
    say_other_tokens(*resumption, tokenizer);
    log_info("{} {} of step {}", resumption->whole ? "going on from" : "weights from",
             resumption->checkpoint.string(), resumption->state.step);
  }
  state.seed = config.run.seed;
  state.vocab = vocab;
  state.tokenizer = tokenizer;
  state.arithmetic = arithmetic;
  state.config = to_yaml(config);
  return state;
}

}  // namespace spillway
