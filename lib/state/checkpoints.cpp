#include "state/checkpoints.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/on_all_ranks.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_group.hpp"
#include "io/h5/earlier_checkpoints.hpp"
#include "io/h5/shard_writer.hpp"
#include "io/tensors/finite.hpp"
#include "state/kept_configs.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kPieceElements = 1 << 16;  // this many elements are copied at a time

struct Group {
  std::string_view part;
  std::string name;
};

Group const kWeights = {kMaster, "model"};

// Lists the groups of a checkpoint: first masters, which include remainders, then moments.
std::vector<Group> groups_of(ModelState const& model) {
  std::vector<Group> groups = {kWeights};
  for (auto const& chunk : model.chunks()) {
    for (auto const& state : chunk.states) {
      bool const known = std::ranges::count(groups, state.name, &Group::part) > 0;
      if (known || state.name == "remainder") continue;
      groups.push_back({state.name, "optimizer/" + state.name});
    }
  }
  return groups;
}

// Calls body(chunk, index, parameter) for every tensor of a group.
template <class Body>
void for_each_tensor_of(Group const& group, ModelState const& model, Body const& body) {
  for (auto const& chunk : model.chunks()) {
    if (group.part != kMaster && chunk.state(group.part) < 0) continue;
    for (std::size_t i = 0; i < chunk.parameters.size(); ++i)
      body(chunk, static_cast<int>(i), chunk.parameters[i]);
  }
}

// Calls body(group, chunk, index, parameter) for every tensor of a checkpoint.
template <class Body>
void for_each_tensor(ModelState const& model, Body const& body) {
  for (auto const& group : groups_of(model)) {
    for_each_tensor_of(group, model, [&](auto const& chunk, int index, auto const& parameter) {
      body(group, chunk, index, parameter);
    });
  }
}

// Divides a tensor into pieces, and calls body(first element, memory in `buffer`) for each piece.
template <class Body>
void in_pieces(std::int64_t elements, std::vector<float>& buffer, Body const& body) {
  for (std::int64_t first = 0; first < elements; first += kPieceElements) {
    auto const size = std::min(kPieceElements, elements - first);
    body(first, std::span(buffer.data(), static_cast<std::size_t>(size)));
  }
}

// Each rank writes what it alone has. What all ranks have is divided evenly between them.
CheckpointLayout layout_of(ModelState& model, int ranks) {
  std::vector<TensorInfo> tensors;
  for_each_tensor(model, [&](auto const& group, auto const&, int, auto const& parameter) {
    tensors.push_back({group.name, parameter.name, parameter.view.shape});
  });
  auto layout = spread_evenly(std::move(tensors), ranks);
  auto const even = std::exchange(layout.extents, {});
  auto extent = even.begin();
  std::size_t tensor = 0;
  for_each_tensor(model, [&](auto const&, auto const& chunk, int index, auto const&) {
    for (; extent != even.end() && extent->tensor == tensor; ++extent)
      if (!chunk.is_shared_out()) layout.extents.push_back(*extent);
    for (int rank = 0; chunk.is_shared_out() && rank < ranks; ++rank) {
      auto const [first, last] = model.owned(chunk.id, index, rank);
      if (first < last) layout.extents.push_back({tensor, rank, first, last - first});
    }
    ++tensor;
  });
  return layout;
}

void write_shard(std::filesystem::path const& directory, ModelState& model,
                 CheckpointLayout const& layout, Comm& comm) {
  ShardWriter shard(directory, comm.rank(), layout);
  std::vector<float> buffer(kPieceElements);
  model.release();  // frees windows that a failed save has left open
  auto extent = layout.extents.begin();
  std::size_t tensor = 0;
  for_each_tensor(model,
                  [&](auto const& group, auto const& chunk, int index, auto const& parameter) {
                    for (; extent != layout.extents.end() && extent->tensor == tensor; ++extent) {
                      if (extent->rank != comm.rank()) continue;
                      in_pieces(extent->elements, buffer, [&](auto first, auto piece) {
                        first += extent->first;
                        model.read(group.part, chunk.id, index, first, piece);
                        shard.write(group.name, parameter.name, first, piece);
                        comm.still_here();
                      });
                    }
                    ++tensor;
                  });
  model.release();
  shard.close();
}

void set_aside(std::filesystem::path const& run_dir) {
  auto const earlier = set_aside_checkpoints(run_dir);
  set_aside_configs(run_dir, earlier);
  if (earlier) log_info("the checkpoints that were here are in {} now", earlier->string());
}

// A checkpoint is its weights: without what export adds to them it is one, too.
CarriedSums carry(CarriedFiles const& files, std::filesystem::path const& directory,
                  RunState const& run) {
  try {
    return write_carried(directory, files);
  } catch (Error const& error) {
    std::error_code ignored;  // what is left there is named as foreign by whoever reads it
    std::filesystem::remove_all(directory / kCarriedFolder, ignored);
    log_warning(
        "{}; the checkpoint of step {} is without the files that export puts beside its "
        "weights, and the next one is tried with them",
        error.what(), run.step);
    return {};
  }
}

CarriedFiles const& files_of(SaveSettings const& settings) {
  static CarriedFiles const none;
  return settings.carried ? *settings.carried : none;
}

void write_checkpoint(std::filesystem::path const& run_dir, ModelState& model, RunState const& run,
                      SaveSettings& settings, Comm& comm) {
  auto const layout = layout_of(model, comm.size());
  auto const directory = run_dir / fmt::format("step-{}.partial", run.step);
  bool const first = comm.rank() == 0;
  on_all_ranks(comm, [&] {
    if (!first) return;
    begin_checkpoint(run_dir, run.step);  // frees the space of interrupted saves first
    require_space(run_dir, checkpoint_bytes(model) + size_bytes(files_of(settings)));
  });
  on_all_ranks(comm, [&] { write_shard(directory, model, layout, comm); });
  on_all_ranks(comm, [&] {
    if (!first) return;
    auto const carried = carry(files_of(settings), directory, run);
    write_manifest(directory, layout, to_texts(run), carried);
    if (settings.begins_anew) set_aside(run_dir);
    settings.begins_anew = false;
    auto const warning = commit_checkpoint(run_dir, run.step, settings.keep);
    if (warning) log_warning("checkpoint of step {} is written, but {}", run.step, *warning);
  });
}

void require_same_model(TensorSource const& source, Group const& group, ModelState& model) {
  auto const refuse = [&](std::string const& why) {
    throw Error(Status::bad_input, fmt::format("{}: is of another model: {}", source.place(), why));
  };
  std::size_t tensors = 0;
  for_each_tensor_of(group, model, [&](auto const&, int, auto const& parameter) {
    ++tensors;
    auto const number = source.tensors().find(parameter.name);
    if (!number) refuse(fmt::format("it has no {}/{}", group.name, parameter.name));
    auto const& shape = source.tensors()[*number].shape;
    if (shape != parameter.view.shape) {
      refuse(fmt::format("{} is [{}] there, [{}] here", parameter.name, fmt::join(shape, ", "),
                         fmt::join(parameter.view.shape, ", ")));
    }
  });
  if (group.part == kMaster && source.tensors().size() != tensors)
    refuse(fmt::format("{} parameters there, {} here", source.tensors().size(), tensors));
}

enum class Values : bool { any, finite };

void restore_group(TensorSource& source, Group const& group, Values values, ModelState& model,
                   Comm& comm) {
  std::vector<float> buffer(kPieceElements);
  for_each_tensor_of(group, model, [&](auto const& chunk, int index, auto const& parameter) {
    auto const number = *source.tensors().find(parameter.name);
    auto const elements = element_count(parameter.view.shape);
    ValueCounts counts;
    // What other ranks keep is read, too, since a shard's checksum is that of a whole extent.
    in_pieces(elements, buffer, [&](auto from, auto piece) {
      read_floats(source, number, from, piece);
      if (values == Values::finite) counts += count_values(piece, ElementType::f32);
      model.write(group.part, chunk.id, index, from, piece);
      comm.still_here();
    });
    if (values == Values::finite) require_finite(source.place(), parameter.name, elements, counts);
  });
}

void restore_weights(TensorSource& weights, Values values, ModelState& model, Comm& comm) {
  require_same_model(weights, kWeights, model);
  restore_group(weights, kWeights, values, model, comm);
  model.complete();
}

}  // namespace

std::int64_t checkpoint_bytes(ModelState& model) {
  std::int64_t elements = 0;
  for_each_tensor(model, [&](auto const&, auto const&, int, auto const& parameter) {
    elements += element_count(parameter.view.shape);
  });
  return elements * static_cast<std::int64_t>(sizeof(float));
}

void require_checkpoint_space(RunConfig const& run, ModelState& model, std::int64_t step,
                              std::int64_t carried_bytes) {
  auto const left = std::max<std::int64_t>(0, run.steps - step);
  auto planned = run.checkpoint.every > 0 ? left / run.checkpoint.every + 1 : 1;
  if (run.checkpoint.minutes) planned = left;
  abandon_checkpoint(run.dir);  // frees the space of interrupted saves
  auto const there = count_checkpoints(run.dir, step);
  auto const at_once = std::min(planned + there, run.checkpoint.keep + 1);
  auto const bytes = checkpoint_bytes(model) + carried_bytes;
  // The bytes of more checkpoints than `most` would overflow.
  auto const most = std::numeric_limits<std::int64_t>::max() / bytes;
  auto const more = std::clamp<std::int64_t>(at_once - there, 1, most);
  require_space(run.dir, more * bytes, Status::bad_input);
}

void save_checkpoint(std::filesystem::path const& run_dir, ModelState& model, RunState const& run,
                     SaveSettings& settings, Comm& comm) {
  try {
    write_checkpoint(run_dir, model, run, settings, comm);
  } catch (AgreedError const&) {
    if (comm.rank() == 0) abandon_checkpoint(run_dir);
    throw;
  }
}

void warn_of_foreign_files(CheckpointReader const& checkpoint) {
  auto names = checkpoint.foreign_files();
  if (names.empty()) return;
  constexpr std::size_t most = 8;
  auto const more = names.size() > most ? fmt::format(" and {} more", names.size() - most) : "";
  names.resize(std::min(names.size(), most));
  log_warning("{}: passed over, for the checkpoint does not have them: {}{}",
              checkpoint.directory().string(), fmt::join(names, ", "), more);
}

void restore_model(CheckpointReader& checkpoint, ModelState& model, Comm& comm) {
  std::vector<std::pair<Group, CheckpointGroup>> groups;
  for (auto const& group : groups_of(model)) {
    groups.emplace_back(group, CheckpointGroup(checkpoint, group.name));
    require_same_model(groups.back().second, group, model);
  }
  for (auto& [group, source] : groups) restore_group(source, group, Values::any, model, comm);
  model.complete();
}

void restore_weights(TensorSource& weights, ModelState& model, Comm& comm) {
  restore_weights(weights, Values::any, model, comm);
}

void start_with_weights(TensorSource& weights, ModelState& model, Comm& comm) {
  restore_weights(weights, Values::finite, model, comm);
}

}  // namespace spillway
