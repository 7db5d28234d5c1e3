#include "io/h5/old_checkpoint.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/file/in_child.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_seal.hpp"
#include "io/h5/h5_file.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostShards = 1 << 20;

H5File open_manifest(fs::path const& path) {
  auto manifest = H5File::open(path);
  if (!manifest.has_attribute("/", "format") || manifest.text("/", "format") != checkpoint_format)
    throw Error(Status::bad_input, fmt::format("{}: not a spillway checkpoint", path.string()));
  auto const version = manifest.integer("/", "version");
  if (version >= 2 && version <= checkpoint_version) {
    throw Error(Status::damaged,
                fmt::format("{}: is missing", (path.parent_path() / seal_name).string()));
  }
  if (version != 1) refuse_version(path, std::to_string(version));
  return manifest;
}

void read_tensors(H5File const& manifest, std::string const& group, CheckpointIndex& index) {
  if (!manifest.exists("/" + group)) return;
  for (auto const& name : manifest.children("/" + group)) {
    auto const path = dataset_path(group, name);
    auto const shard = manifest.integer(path, "shard");
    if (shard < 0 || shard >= std::ssize(index.shards)) {
      throw Error(Status::damaged,
                  fmt::format("{}: {}: no such shard", manifest.path().string(), path));
    }
    index.tensors.push_back({group, name, manifest.info(path).shape});
    auto const elements = checked_elements(index.tensors.back().shape, manifest.path().string());
    index.extents.push_back({index.tensors.size() - 1, 0, elements, static_cast<std::size_t>(shard),
                             -1, elements, manifest.text(path, "xxh3")});
  }
}

// Asks HDF5 where in the file of a shard its values lie, because an old checkpoint does not say it.
void find_places(fs::path const& directory, std::size_t number, CheckpointIndex& index) {
  auto const shard = H5File::open(directory / shard_name(static_cast<int>(number)));
  for (std::size_t i = 0; i < index.tensors.size(); ++i) {
    auto const& [group, name, shape, type] = index.tensors[i];
    auto& extent = index.extents[i];  // each tensor has one extent
    if (extent.shard != number) continue;
    auto const path = dataset_path(group, name);
    auto const info = shard.info(path);
    if (info.type != H5Type::f32 || info.shape != shape) {
      throw Error(Status::damaged, fmt::format("{}: {}: is not what {} says", shard.path().string(),
                                               path, manifest_name));
    }
    extent.offset_bytes = shard.offset_bytes(path);
  }
}

CheckpointIndex read(fs::path const& directory) {
  auto const manifest = open_manifest(directory / manifest_name);
  CheckpointIndex index;
  for (auto const& key : manifest.attributes("/run"))
    index.run_strings.emplace(key, manifest.text("/run", key));
  int rank = 0;
  for (auto const bytes : manifest.read<std::int64_t>("/shards/bytes", kMostShards))
    index.shards.push_back({rank++, bytes, ""});
  for (auto const* group : {kWeightsGroup, "optimizer/m", "optimizer/v"})
    read_tensors(manifest, group, index);
  require_shards(directory, index);
  for (std::size_t number = 0; number < index.shards.size(); ++number)
    find_places(directory, number, index);
  return index;
}

}  // namespace

CheckpointIndex read_old_index(fs::path const& directory) {
  auto const path = directory / manifest_name;
  open_for_reading(path);  // reports a missing file without a child process
  auto index =
      index_from_json(in_child(path, [&] { return to_json(read(directory)); }), path.string());
  require_whole(index, path.string());
  return index;
}

}  // namespace spillway
