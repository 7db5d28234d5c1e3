#include "train/resume.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "train/checkpoints.hpp"

namespace spillway {
namespace {

Resumption read(std::filesystem::path const& directory, bool whole) {
  CheckpointReader const reader(directory);
  return {directory, run_state(reader.run_strings(), directory.string()), whole};
}

std::optional<Resumption> choose(Config const& config) {
  auto const& resume = config.run.checkpoint.resume;
  if (resume != "never") {
    auto const latest = find_latest(config.run.dir);
    if (latest) return read(*latest, resume == "auto");
  }
  if (!config.run.init.empty()) return read(config.run.init, false);
  return std::nullopt;
}

}  // namespace

void require_same_family(std::filesystem::path const& checkpoint, RunState const& state,
                         Config const& config, std::int64_t vocab) {
  auto const there = parse_config(state.config, checkpoint.string()).model;
  auto const& here = config.model;
  auto const require = [&](char const* key, auto const& before, auto const& now) {
    if (before == now) return;
    throw Error(Status::bad_input, fmt::format("{}: is of another model: {} is {} there, {} here",
                                               checkpoint.string(), key, before, now));
  };
  require("model.family", there.family, here.family);
  require("model.layers", there.layers, here.layers);
  require("model.hidden", there.hidden, here.hidden);
  require("model.heads", there.heads, here.heads);
  require("model.tied", there.tied, here.tied);
  require("model.bias", there.bias, here.bias);
  require("model.norm_eps", there.norm_eps, here.norm_eps);
  require("the vocabulary", state.vocab, vocab);
}

std::optional<Resumption> find_resumption(Config const& config, std::int64_t vocab) {
  auto const resumption = choose(config);
  if (resumption) require_same_family(resumption->checkpoint, resumption->state, config, vocab);
  return resumption;
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

RunState start_model(Config const& config, Data const& data, Arithmetic const& arithmetic,
                     std::optional<Resumption> const& resumption, ModelState& model) {
  RunState state;
  if (!resumption) {
    model.initialise(config.run.seed);
  } else {
    CheckpointReader reader(resumption->checkpoint);
    restore_model(reader, model, !resumption->whole);
    if (resumption->whole) state = resumption->state;
    log_info("{} {} of step {}", resumption->whole ? "going on from" : "weights from",
             resumption->checkpoint.string(), resumption->state.step);
  }
  state.seed = config.run.seed;
  state.vocab = data.vocab;
  state.tokenizer = data.train.files().front().layout().tokenizer;
  state.arithmetic = arithmetic;
  state.config = to_yaml(config);
  return state;
}

}  // namespace spillway
