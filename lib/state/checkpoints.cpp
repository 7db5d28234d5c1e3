#include "state/checkpoints.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/on_all_ranks.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/earlier_checkpoints.hpp"
#include "io/h5/shard_writer.hpp"
#include "state/checkpoint_tensors.hpp"
#include "state/kept_configs.hpp"

namespace spillway {
namespace {

void write_shard(std::filesystem::path const& directory, ModelState& model,
                 CheckpointLayout const& layout, Stored stored, Comm& comm) {
  ShardWriter shard(directory, comm.rank(), layout);
  model.release();  // frees windows that a failed save has left open
  auto extent = layout.extents.begin();
  std::size_t tensor = 0;
  auto const write = [&](auto const& group, auto const& chunk, int index, auto const& parameter) {
    auto const size = size_bytes(layout.tensors[tensor].type);
    for (auto at = extent->first, end = at + extent->elements; at < end;) {
      auto const bytes =
          model.stored(group.part, chunk.id, index, at, std::min(kCopiedElements, end - at), false);
      shard.write(group.name, parameter.name, at, bytes);
      at += std::ssize(bytes) / size;
      comm.still_here();
    }
  };
  for_each_stored(model, stored,
                  [&](auto const& group, auto const& chunk, int index, auto const& parameter) {
                    for (; extent != layout.extents.end() && extent->tensor == tensor; ++extent)
                      if (extent->rank == comm.rank()) write(group, chunk, index, parameter);
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
  auto const stored = stored_by(run);
  auto const layout = layout_of(model, comm.size(), stored);
  auto const directory = run_dir / fmt::format("step-{}.partial", run.step);
  bool const first = comm.rank() == 0;
  on_all_ranks(comm, [&] {
    if (!first) return;
    begin_checkpoint(run_dir, run.step);  // frees the space of interrupted saves first
    require_space(run_dir, checkpoint_bytes(model, stored) + size_bytes(files_of(settings)));
  });
  on_all_ranks(comm, [&] { write_shard(directory, model, layout, stored, comm); });
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

}  // namespace

std::int64_t checkpoint_bytes(ModelState& model, Stored stored) {
  std::int64_t bytes = 0;
  for_each_stored(model, stored, [&](auto const& group, auto const& chunk, int index, auto const&) {
    bytes += element_count(model.shape_of(group.part, chunk.id, index)) *
             size_bytes(*model.stored_type(group.part, chunk.id));
  });
  return bytes;
}

void require_checkpoint_space(RunConfig const& run, ModelState& model, std::int64_t step,
                              std::int64_t carried_bytes, Stored stored) {
  auto const left = std::max<std::int64_t>(0, run.steps - step);
  auto planned = run.checkpoint.every > 0 ? left / run.checkpoint.every + 1 : 1;
  if (run.checkpoint.minutes) planned = left;
  abandon_checkpoint(run.dir);  // frees the space of interrupted saves
  auto const there = count_checkpoints(run.dir, step);
  auto const at_once = std::min(planned + there, run.checkpoint.keep + 1);
  auto const bytes = checkpoint_bytes(model, stored) + carried_bytes;
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

}  // namespace spillway
