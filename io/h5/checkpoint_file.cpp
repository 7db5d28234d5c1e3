#include "io/h5/checkpoint_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "io/h5/checkpoint_seal.hpp"
#include "io/h5/h5_file.hpp"

namespace spillway {
namespace {

// What the shards' own seals say, as one. One shard at a time: their number is bounded by the
// ranks, open files are not.
CheckpointIndex merged_index(std::filesystem::path const& directory,
                             std::span<TensorSpec const> specs) {
  std::set<int> ranks;
  for (auto const& spec : specs) ranks.insert(spec.shard);
  CheckpointIndex whole;
  for (int const rank : ranks) {
    auto shard = take_shard_seal(directory, rank);
    for (auto& place : shard.places) place.shard = whole.shards.size();
    std::ranges::move(shard.shards, std::back_inserter(whole.shards));
    std::ranges::move(shard.tensors, std::back_inserter(whole.tensors));
    std::ranges::move(shard.places, std::back_inserter(whole.places));
  }
  return whole;
}

void require_all(std::filesystem::path const& directory, CheckpointIndex const& index,
                 std::span<TensorSpec const> specs) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (auto const& tensor : index.tensors)
    shapes.emplace(dataset_path(tensor.group, tensor.name), tensor.shape);
  for (auto const& spec : specs) {
    auto const path = dataset_path(spec.group, spec.name);
    auto const found = shapes.find(path);
    if (found != shapes.end() && found->second == spec.shape) continue;
    throw Error(Status::damaged, fmt::format("{}: {}: is not what was to be written",
                                             (directory / shard_name(spec.shard)).string(), path));
  }
}

void map_tensors(H5File& manifest, CheckpointIndex const& index) {
  for (std::size_t i = 0; i < index.tensors.size(); ++i) {
    auto const& [group, name, shape] = index.tensors[i];
    auto const& place = index.places[i];
    auto const path = dataset_path(group, name);
    auto const file = shard_name(index.shards[place.shard].rank);
    manifest.create_virtual(path, H5Type::f32, shape, std::array{H5Source{file, path, shape[0]}});
    manifest.set_text(path, "xxh3", place.checksum);
  }
}

}  // namespace

std::string shard_name(int rank) {
  return fmt::format("shard-{}.h5", rank);
}

std::string dataset_path(std::string const& group, std::string const& name) {
  return fmt::format("/{}/{}", group, name);
}

void write_manifest(std::filesystem::path const& directory, std::span<TensorSpec const> specs,
                    std::map<std::string, std::string> const& run_strings) {
  auto index = merged_index(directory, specs);
  require_all(directory, index, specs);
  index.run_strings = run_strings;

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
