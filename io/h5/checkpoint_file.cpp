#include "io/h5/checkpoint_file.hpp"

#include <fmt/core.h>

#include <map>
#include <utility>
#include <vector>

#include "io/h5/checkpoint_seal.hpp"
#include "io/h5/element_h5_type.hpp"
#include "io/h5/h5_file.hpp"

namespace spillway {
namespace {

using Path = std::filesystem::path;

[[noreturn]] void fail_other(Path const& directory, int rank) {
  throw Error(Status::damaged, (directory / shard_name(rank)).string() +
                                   ": holds other tensors than were to be written");
}

// Merges what each shard's own seal says of the extents of `layout` into one index. Only one of the
// seals is open at a time, since there may be more ranks than files that a process may open.
CheckpointIndex merged_index(Path const& directory, CheckpointLayout const& layout) {
  std::map<int, std::vector<std::size_t>> written;  // indices in layout.extents for each rank
  for (std::size_t i = 0; i < layout.extents.size(); ++i)
    written[layout.extents[i].rank].push_back(i);
  CheckpointIndex whole{{}, {}, layout.tensors, {}, {}};
  whole.extents.resize(layout.extents.size());
  for (auto const& [rank, numbers] : written) {
    auto const shard = take_shard_seal(directory, rank);
    if (shard.shards.size() != 1 || shard.extents.size() != numbers.size())
      fail_other(directory, rank);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      auto const& [tensor, by, first, elements] = layout.extents[numbers[i]];
      auto extent = shard.extents[i];
      bool const same = shard.tensors[extent.tensor] == layout.tensors[tensor] &&
                        extent.first == first && extent.elements == elements;
      if (!same) fail_other(directory, rank);
      extent.tensor = tensor;
      extent.shard = whole.shards.size();
      whole.extents[numbers[i]] = std::move(extent);
    }
    whole.shards.push_back(shard.shards[0]);
  }
  require_whole(whole, directory.string());
  return whole;
}

void map_tensors(H5File& manifest, CheckpointIndex const& index) {
  auto extent = index.extents.begin();
  for (std::size_t i = 0; i < index.tensors.size(); ++i) {
    auto const& [group, name, shape, type] = index.tensors[i];
    auto const path = dataset_path(group, name);
    std::vector<H5Source> sources;
    for (; extent != index.extents.end() && extent->tensor == i; ++extent)
      sources.push_back({shard_name(index.shards[extent->shard].rank), path, extent->elements});
    manifest.create_virtual(path, h5_type(type), shape, sources);
  }
}

}  // namespace

std::string shard_name(int rank) {
  return fmt::format("shard-{}.h5", rank);
}

std::string dataset_path(std::string const& group, std::string const& name) {
  return fmt::format("/{}/{}", group, name);
}

void write_manifest(Path const& directory, CheckpointLayout const& layout,
                    std::map<std::string, std::string> const& run_strings,
                    CarriedSums const& carried) {
  auto index = merged_index(directory, layout);
  index.run_strings = run_strings;
  index.carried = carried;

  auto manifest = H5File::create(directory / manifest_name);
  manifest.set_text("/", "format", checkpoint_format);
  manifest.set_integer("/", "version", checkpoint_version);
  manifest.create_group("/run");
  for (auto const& [key, value] : run_strings) manifest.set_text("/run", key, value);
  map_tensors(manifest, index);
  manifest.close();
  write_seal(directory, index);
}

}  // namespace spillway
