#include "io/h5/checkpoint_reader.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "io/file/read_file.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_names.hpp"
#include "io/h5/checkpoint_seal.hpp"
#include "io/h5/h5_file.hpp"

namespace spillway {
namespace {

[[noreturn]] void fail_damaged(std::filesystem::path const& path, std::string const& what) {
  throw Error(Status::damaged, fmt::format("{}: {}", path.string(), what));
}

}  // namespace

CheckpointReader::CheckpointReader(std::filesystem::path const& directory)
    : m_directory(directory),
      m_index(read_index(directory)),
      m_rest_is_known(m_index.shards.size(), false) {
  for (std::size_t i = 0; i < m_index.tensors.size(); ++i)
    m_positions.emplace(dataset_path(m_index.tensors[i].group, m_index.tensors[i].name), i);
  require_step_of_name();
}

void CheckpointReader::require_step_of_name() const {
  auto const step = step_of(m_directory);
  auto const said = run_strings().find("step");
  if (!step || said == run_strings().end() || said->second == std::to_string(*step)) return;
  fail_damaged(m_directory, fmt::format("holds the checkpoint of step {}", said->second));
}

TensorInfo const* CheckpointReader::find(std::string const& group, std::string const& name) const {
  auto const found = m_positions.find(dataset_path(group, name));
  return found == m_positions.end() ? nullptr : &m_index.tensors[found->second];
}

std::int64_t CheckpointReader::size_bytes() const {
  std::int64_t bytes = 0;
  for (auto const& shard : m_index.shards) bytes += shard.bytes;
  return bytes;
}

void CheckpointReader::read(std::string const& group, std::string const& name, std::int64_t first,
                            std::span<float> to) {
  auto const path = dataset_path(group, name);
  auto const found = m_positions.find(path);
  bool const inside = found != m_positions.end() && first >= 0 &&
                      std::ssize(to) <= element_count(m_index.tensors[found->second].shape) - first;
  if (!inside) throw std::logic_error(fmt::format("checkpoint: {} has no such elements", path));
  auto const& place = m_index.places[found->second];
  open_shard(place.shard);
  auto const at = place.offset_bytes + first * static_cast<std::int64_t>(sizeof(float));
  read_range(m_file, m_directory / shard_name(m_index.shards[place.shard].rank), at,
             std::as_writable_bytes(to));
  verify(found->second, first, to);
}

// One at a time: there may be more of them than a process may have open.
void CheckpointReader::open_shard(std::size_t shard) {
  if (m_open == shard) return;
  auto const& [rank, bytes, rest] = m_index.shards[shard];
  auto const path = m_directory / shard_name(rank);
  m_open.reset();
  m_file = open_for_reading(path);
  bool const known = rest.empty() || m_rest_is_known[shard];
  if (!known && checksum_of_rest(m_file, path, m_index, shard) != rest)
    fail_damaged(path, "what lies between its values is not what was written");
  m_rest_is_known[shard] = true;
  m_open = shard;
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
  m_progress->next += std::ssize(values);
  auto const& info = m_index.tensors[tensor];
  if (m_progress->next < element_count(info.shape)) return;
  m_progress.reset();
  auto const& place = m_index.places[tensor];
  if (checksum_text(m_checksum.value()) == place.checksum) return;
  fail_damaged(m_directory / shard_name(m_index.shards[place.shard].rank),
               dataset_path(info.group, info.name) + ": not the values that were written");
}

}  // namespace spillway
