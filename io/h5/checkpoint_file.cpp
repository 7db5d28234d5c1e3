#include "io/h5/checkpoint_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "io/file/file.hpp"
#include "io/h5/h5_file.hpp"

namespace spillway {
namespace {

std::vector<std::int64_t> shard_sizes(std::filesystem::path const& directory, int shards) {
  std::vector<std::int64_t> sizes;
  for (int rank = 0; rank < shards; ++rank) {
    auto const path = directory / shard_name(rank);
    sizes.push_back(size_bytes(open_for_reading(path), path));
  }
  return sizes;
}

void write_run(H5File& manifest, std::map<std::string, std::string> const& run_strings) {
  manifest.create_group("/run");
  for (auto const& [key, value] : run_strings) manifest.set_text("/run", key, value);
}

// One shard at a time: their number is bounded by the ranks, open files are not.
void map_shard(H5File& manifest, H5File const& shard, int rank, std::span<TensorSpec const> specs) {
  for (auto const& spec : specs) {
    if (spec.shard != rank) continue;
    auto const path = dataset_path(spec.group, spec.name);
    std::array const source{H5Source{shard_name(rank), path, spec.shape.front()}};
    manifest.create_virtual(path, H5Type::f32, spec.shape, source);
    manifest.set_text(path, "xxh3", shard.text(path, "xxh3"));
    manifest.set_integer(path, "shard", rank);
  }
}

}  // namespace

std::string shard_name(int rank) {
  return fmt::format("shard-{}.h5", rank);
}

std::string dataset_path(std::string const& group, std::string const& name) {
  return fmt::format("/{}/{}", group, name);
}

std::string checksum_text(std::uint64_t checksum) {
  return fmt::format("{:016x}", checksum);
}

void write_manifest(std::filesystem::path const& directory, std::span<TensorSpec const> specs,
                    std::map<std::string, std::string> const& run_strings) {
  int shards = 0;
  for (auto const& spec : specs) shards = std::max(shards, spec.shard + 1);
  auto const sizes = shard_sizes(directory, shards);

  auto manifest = H5File::create(directory / manifest_name);
  manifest.set_text("/", "format", checkpoint_format);
  manifest.set_integer("/", "version", checkpoint_version);
  write_run(manifest, run_strings);
  manifest.create_dataset("/shards/bytes", H5Type::i64, std::array{std::int64_t{shards}});
  manifest.write<std::int64_t>("/shards/bytes", 0, sizes);
  for (int rank = 0; rank < shards; ++rank) {
    map_shard(manifest, H5File::open(directory / shard_name(rank)), rank, specs);
  }
  manifest.close();
}

}  // namespace spillway
