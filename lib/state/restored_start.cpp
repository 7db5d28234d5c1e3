#include "state/restored_start.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/checksum.hpp"
#include "base/log.hpp"
#include "huggingface/match_tensors.hpp"
#include "io/h5/checkpoint_masters.hpp"
#include "io/h5/earlier_checkpoints.hpp"
#include "model/adapters.hpp"
#include "model/freeze.hpp"
#include "model/model.hpp"
#include "state/base_weights.hpp"
#include "state/restore.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// Returns the base at `path` if `sums` has all weights that the model does not train, and otherwise
// none: checkpoints then hold all.
BaseReference base_of(std::string const& path, std::map<std::string, std::string> const& sums,
                      ModelState const& model) {
  BaseReference base{.path = path};
  for (auto const& chunk : model.chunks()) {
    for (auto const& parameter : chunk.parameters) {
      auto const sum = sums.find(parameter.name);
      if (chunk.trainable) continue;
      if (sum == sums.end()) return {};
      base.sums.insert(*sum);
    }
  }
  return base;
}

bool freezes(ModelState const& model) {
  return !std::ranges::all_of(model.chunks(), &Chunk::trainable);
}

// Returns whether the run would remove the checkpoint in its course.
bool is_own(fs::path const& checkpoint, RunConfig const& run) {
  std::error_code ignored;  // what cannot be looked at is not of the run
  auto const directory = fs::weakly_canonical(run.dir, ignored);
  return fs::weakly_canonical(checkpoint, ignored).parent_path() == directory;
}

// Of weights that are not trained, says whether they stay where run.init has them.
bool has_base(Resumption const& resumption, RunConfig const& run) {
  if (!resumption.state.base.path.empty()) return true;
  return resumption.is_init && !(resumption.reader && is_own(resumption.checkpoint, run));
}

// What the run before has trained is not in its base.
bool freezes_more(ModelConfig const& model, std::map<std::string, std::string> const& base) {
  Freeze freeze(model);
  return std::ranges::any_of(parameters_of(model), [&](TensorEntry const& parameter) {
    return freeze.freezes(std::vector{parameter.name}) && !base.contains(parameter.name);
  });
}

// Another run that goes on removes its older checkpoints.
void warn_of_base_in_run(Resumption const& resumption) {
  std::error_code ignored;
  if (!resumption.reader || !fs::exists(resumption.checkpoint.parent_path() / "latest", ignored))
    return;
  log_warning(
      "checkpoints of this run leave the weights that it does not train in {}, which the run there "
      "removes if it goes on; begin with a copy to keep them",
      resumption.checkpoint.string());
}

fs::path place_of_base(Resumption const& resumption) {
  return resumption.adapters ? fs::path(resumption.directory->place()) : resumption.checkpoint;
}

JoinedWeights beside_adapters(Resumption const& start, std::shared_ptr<TensorSource> base) {
  std::vector<std::shared_ptr<TensorSource>> sources = {std::move(base)};
  if (start.adapters) sources.insert(sources.begin(), start.adapters);
  return JoinedWeights(std::move(sources));
}

// Begins with weights of run.init, of which those that are not trained stay where they are: in
// run.init itself or, if that has a base, there.
BaseReference start_beside_base(Resumption const& resumption, RunConfig const& run,
                                ModelState& model, Comm& comm, StreamingChecksum& sum) {
  auto const& before = resumption.state.base;
  if (!before.path.empty()) {
    auto const base = open_base(*resumption.reader, resumption.places);
    JoinedWeights weights({std::make_shared<CheckpointMasters>(*resumption.reader), base});
    start_with_weights(weights, model, comm, &sum, run.seed);
    return base_of(base->place(), before.sums, model);
  }
  if (comm.rank() == 0) warn_of_base_in_run(resumption);
  auto const place = fs::absolute(place_of_base(resumption)).lexically_normal().string();
  auto const base =
      std::make_shared<BaseWeights>(BaseReference{.path = place}, run.dir, open_weights(place));
  auto weights = beside_adapters(resumption, base);
  start_with_weights(weights, model, comm, &sum, run.seed);
  return base_of(place, base->sums(), model);
}

// Returns whether the model has adapters and the checkpoint none.
bool gets_adapters(Resumption const& start, ModelState const& model) {
  auto const has_adapters = [](Chunk const& chunk) {
    return std::ranges::any_of(chunk.parameters, [](Parameter const& parameter) {
      return adapted_layer(parameter.name).has_value();
    });
  };
  return std::ranges::any_of(model.chunks(), has_adapters) &&
         stored_config(start).model.lora.rank == 0;
}

}  // namespace

bool leaves_base(Resumption const& resumption, Config const& config, std::int64_t vocab) {
  auto const& before = resumption.state.base;
  if (resumption.whole) return !before.path.empty();
  return has_base(resumption, config.run) &&
         (before.path.empty() || !freezes_more(completed(config, vocab), before.sums));
}

bool leaves_base(RunConfig const& run) {
  std::error_code ignored;
  auto const directory = fs::weakly_canonical(run.dir, ignored);
  bool const is_run = fs::weakly_canonical(run.init, ignored) == directory;
  return !run.init.empty() && !is_run && !is_own(run.init, run);
}

RestoredStart restore_start(Resumption const& resumption, RunConfig const& run, ModelState& model,
                            Comm& comm) {
  auto const& before = resumption.state.base;
  StreamingChecksum sum;
  RestoredStart restored;
  auto const read = [&] {
    if (resumption.whole) {
      auto const base = open_base(*resumption.reader, resumption.places);
      restored.base = before;
      if (base) restored.base.path = base->place();
      return restore_model(*resumption.reader, base.get(), model, comm);
    }
    if (freezes(model) && has_base(resumption, run)) {
      restored.base = start_beside_base(resumption, run, model, comm, sum);
    } else if (resumption.directory) {
      start_with_weights(*resumption.directory, model, comm, &sum, run.seed);
    } else {
      auto weights = checkpoint_weights(*resumption.reader, resumption.places);
      start_with_weights(weights, model, comm, &sum, run.seed);
    }
  };
  if (resumption.reader)
    naming_older(resumption.checkpoint, read);
  else
    read();
  restored.weights = resumption.reader ? resumption.reader->checksum() : checksum_text(sum.value());
  for (auto const& [tensor, checksum] : restored.base.sums) restored.weights += checksum;
  return restored;
}

void restore_weights(Resumption const& start, ModelState& model, Comm& comm) {
  if (!start.reader) {
    auto weights = beside_adapters(start, start.directory);
    return start_with_weights(weights, model, comm);
  }
  naming_older(start.checkpoint, [&] {
    if (gets_adapters(start, model)) {
      auto weights = checkpoint_weights(*start.reader, start.places);
      return start_with_weights(weights, model, comm);
    }
    auto const base = open_base(*start.reader, start.places);
    restore_weights(*start.reader, base.get(), model, comm);
  });
}

}  // namespace spillway
