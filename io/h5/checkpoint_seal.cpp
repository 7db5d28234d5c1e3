#include "io/h5/checkpoint_seal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/file/file_checksum.hpp"
#include "io/file/output_file.hpp"
#include "io/file/read_file.hpp"
#include "io/file/seal.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_json.hpp"
#include "io/h5/checkpoint_names.hpp"
#include "io/h5/old_checkpoint.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::int64_t kMostSealBytes = std::int64_t{1} << 30;

[[noreturn]] void fail(fs::path const& path, std::string const& why) {
  throw Error(Status::damaged, fmt::format("{}: {}", path.string(), why));
}

struct FileSum {
  std::int64_t bytes;
  std::string checksum;
};

FileSum sum_of(fs::path const& path) {
  auto const file = open_for_reading(path);
  auto const bytes = size_bytes(file, path);
  StreamingChecksum sum;
  add_range(sum, file, path, 0, bytes);
  return {bytes, checksum_text(sum.value())};
}

void require_file(fs::path const& path, std::int64_t expected_bytes) {
  std::error_code error;
  auto const bytes = fs::file_size(path, error);
  if (error) fail(path, error.message());
  if (std::cmp_not_equal(bytes, expected_bytes))
    fail(path, fmt::format("has {} bytes, {} were written", bytes, expected_bytes));
}

void require_manifest(fs::path const& path, Json const& said) {
  require_file(path, said.at("bytes").get<std::int64_t>());
  if (said.at("xxh3") != sum_of(path).checksum) fail(path, "is not what was written");
}

CheckpointIndex read_sealed(fs::path const& directory) {
  auto const path = directory / seal_name;
  auto const text = read_sealed_text(path, kMostSealBytes);
  try {
    auto const json = Json::parse(text);
    auto const& version = json.at("version");
    bool const known = version.is_number_integer() && version >= 2 && version <= checkpoint_version;
    if (!known) refuse_version(path, version.dump());
    require_manifest(directory / manifest_name, json.at("manifest"));
    auto index = index_of(json.at("index"), path.string());
    index.carried = carried_of(json.value("carried", Json::object()), path.string());
    require_whole(index, path.string());
    require_shards(directory, index);
    return index;
  } catch (Json::exception const&) {
    fail(path, "says nothing that can be understood");
  }
}

fs::path shard_seal(fs::path const& directory, int rank) {
  return directory / fmt::format("shard-{}.{}", rank, seal_name);
}

// Throws Error(bad_input) that says what the directory is, if it is there and is no checkpoint.
void require_checkpoint(fs::path const& directory) {
  std::error_code ignored;  // read_old_index reports what is missing
  auto const has = [&](char const* name) { return fs::exists(directory / name, ignored); };
  auto const refuse = [&](std::string const& what) {
    throw Error(Status::bad_input, fmt::format("{}: {}", directory.string(), what));
  };
  if (has(manifest_name) || !fs::is_directory(directory, ignored)) return;
  if (has("config.json"))
    refuse("is a directory of Hugging Face; make a checkpoint of it by import");
  refuse("is neither a checkpoint nor a run that has one");
}

}  // namespace

CheckpointIndex read_index(fs::path const& directory) {
  std::error_code ignored;  // an error shows when files are opened
  bool const is_sealed = fs::exists(fs::symlink_status(directory / seal_name, ignored));
  if (!is_sealed) require_checkpoint(directory);
  return is_sealed ? read_sealed(directory) : read_old_index(directory);
}

void refuse_version(fs::path const& path, std::string const& version) {
  throw Error(Status::bad_input,
              fmt::format("{}: checkpoint format {} is not known to this build (it reads 1 to {})",
                          path.string(), version, checkpoint_version));
}

void require_shards(fs::path const& directory, CheckpointIndex const& index) {
  for (auto const& shard : index.shards)
    require_file(directory / shard_name(shard.rank), shard.bytes);
}

std::string checksum_of_other_bytes(FileDescriptor const& file, fs::path const& path,
                                    CheckpointIndex const& index, std::size_t shard) {
  std::vector<std::pair<std::int64_t, std::int64_t>> values;  // first byte and end of each extent
  for (auto const& extent : index.extents) {
    if (extent.shard != shard) continue;
    auto const bytes = extent.elements * size_bytes(index.tensors[extent.tensor].type);
    values.emplace_back(extent.offset_bytes, extent.offset_bytes + bytes);
  }
  auto const bytes = index.shards[shard].bytes;
  values.emplace_back(bytes, bytes);
  std::ranges::sort(values);
  StreamingChecksum sum;
  std::int64_t at = 0;
  for (auto const& [first, end] : values) {
    add_range(sum, file, path, at, first - at);  // adds nothing where extents overlap
    at = std::max(at, end);
  }
  return checksum_text(sum.value());
}

void write_seal(fs::path const& directory, CheckpointIndex const& index) {
  auto const [bytes, checksum] = sum_of(directory / manifest_name);
  Json const json = {{"format", "spillway-seal"},
                     {"version", checkpoint_version},
                     {"manifest", {{"bytes", bytes}, {"xxh3", checksum}}},
                     {"carried", json_of(index.carried)},
                     {"index", json_of(index)}};
  // The seal has its final name at once, because nobody reads the directory before the checkpoint
  // is complete.
  write_file(directory / seal_name, sealed(text_of(json) + "\n"), Durable::yes);
}

void write_shard_seal(fs::path const& directory, int rank, CheckpointIndex const& index) {
  write_file(shard_seal(directory, rank), sealed(to_json(index) + "\n"), Durable::no);
}

CheckpointIndex take_shard_seal(fs::path const& directory, int rank) {
  auto const path = shard_seal(directory, rank);
  auto index = index_from_json(read_sealed_text(path, kMostSealBytes), path.string());
  as_storage_error([&] { fs::remove(path); });
  return index;
}

}  // namespace spillway
