#include "io/h5/checkpoint_reader.hpp"

#include <fmt/core.h>

#include <cassert>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_file.hpp"

namespace spillway {
namespace {

[[noreturn]] void fail_damaged(std::filesystem::path const& path, std::string const& what) {
  throw Error(Status::damaged, fmt::format("{}: {}", path.string(), what));
}

H5File open_manifest(std::filesystem::path const& directory) {
  auto const path = directory / manifest_name;
  auto manifest = H5File::open(path);
  if (!manifest.has_attribute("/", "format") || manifest.text("/", "format") != checkpoint_format) {
    throw Error(Status::bad_input, fmt::format("{}: not a spillway checkpoint", path.string()));
  }
  if (auto const version = manifest.integer("/", "version"); version != checkpoint_version) {
    throw Error(Status::bad_input,
                fmt::format("{}: checkpoint format {} is not known to this build (it reads {})",
                            path.string(), version, checkpoint_version));
  }
  return manifest;
}

}  // namespace

CheckpointReader::CheckpointReader(std::filesystem::path const& directory)
    : m_directory(directory), m_manifest(open_manifest(directory)) {
  for (auto const& key : m_manifest.attributes("/run")) {
    m_run_strings.emplace(key, m_manifest.text("/run", key));
  }
  check_shard_sizes();
  read_tensor_list();
}

void CheckpointReader::check_shard_sizes() {
  auto const count = element_count(m_manifest.info("/shards/bytes").shape);
  std::vector<std::int64_t> expected(static_cast<std::size_t>(count));
  m_manifest.read<std::int64_t>("/shards/bytes", 0, expected);
  m_shards.resize(expected.size());
  for (std::size_t rank = 0; rank < expected.size(); ++rank) {
    auto const path = m_directory / shard_name(static_cast<int>(rank));
    std::error_code missing;
    auto const actual = std::filesystem::file_size(path, missing);
    if (missing) fail_damaged(path, missing.message());
    if (static_cast<std::int64_t>(actual) != expected[rank]) {
      fail_damaged(path,
                   fmt::format("has {} bytes, {} says {}", actual, manifest_name, expected[rank]));
    }
    m_size_bytes += expected[rank];
  }
}

void CheckpointReader::read_tensor_list() {
  for (std::string const group : {"model", "optimizer/m", "optimizer/v"}) {
    if (!m_manifest.exists("/" + group)) continue;
    for (auto const& name : m_manifest.children("/" + group)) {
      auto const path = dataset_path(group, name);
      auto const shard = static_cast<std::size_t>(m_manifest.integer(path, "shard"));
      if (shard >= m_shards.size()) fail_damaged(m_manifest.path(), path + ": no such shard");
      m_index.emplace(path, m_tensors.size());
      m_tensors.push_back({group, name, m_manifest.info(path).shape});
      m_locations.push_back({shard, m_manifest.text(path, "xxh3")});
    }
  }
}

TensorInfo const* CheckpointReader::find(std::string const& group, std::string const& name) const {
  auto const found = m_index.find(dataset_path(group, name));
  return found == m_index.end() ? nullptr : &m_tensors[found->second];
}

void CheckpointReader::read(std::string const& group, std::string const& name, std::int64_t first,
                            std::span<float> to) {
  auto const path = dataset_path(group, name);
  auto const found = m_index.find(path);
  assert(found != m_index.end());
  auto const tensor = found->second;
  shard(m_locations[tensor].shard).read(path, first, to);
  verify(tensor, first, to);
}

H5File& CheckpointReader::shard(std::size_t rank) {
  auto& file = m_shards[rank];
  if (!file) file = H5File::open(m_directory / shard_name(static_cast<int>(rank)));
  return *file;
}

void CheckpointReader::verify(std::size_t tensor, std::int64_t first,
                              std::span<float const> values) {
  if (first == 0) {
    m_progress = Progress{tensor};
    m_checksum.restart();
  }
  if (!m_progress || m_progress->tensor != tensor || m_progress->next != first) {
    m_progress.reset();
    return;
  }
  m_checksum.add(std::as_bytes(values));
  m_progress->next += static_cast<std::int64_t>(values.size());
  auto const& info = m_tensors[tensor];
  if (m_progress->next < element_count(info.shape)) return;
  m_progress.reset();
  auto const& [shard, expected] = m_locations[tensor];
  if (checksum_text(m_checksum.value()) != expected) {
    fail_damaged(m_directory / shard_name(static_cast<int>(shard)),
                 dataset_path(info.group, info.name) + ": not the values that were written");
  }
}

}  // namespace spillway
