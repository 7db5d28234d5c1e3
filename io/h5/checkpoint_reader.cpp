#include "io/h5/checkpoint_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "io/file/read_file.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_names.hpp"
#include "io/h5/checkpoint_seal.hpp"
#include "io/h5/h5_file.hpp"

namespace spillway {
namespace {

[[noreturn]] void fail_damaged(std::filesystem::path const& path, std::string const& what) {
  throw Error(Status::damaged, fmt::format("{}: {}", path.string(), what));
}

[[noreturn]] void fail_misused(std::string const& group, std::string const& name) {
  throw std::logic_error(
      fmt::format("checkpoint: {} has no such elements", dataset_path(group, name)));
}

}  // namespace

CheckpointReader::CheckpointReader(std::filesystem::path const& directory)
    : m_directory(directory),
      m_index(read_index(directory)),
      m_others_verified(m_index.shards.size(), false) {
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

std::vector<std::string> CheckpointReader::foreign_files() const {
  std::set<std::filesystem::path> own = {manifest_name, seal_name, kCarriedFolder};
  for (auto const& shard : m_index.shards) own.insert(shard_name(shard.rank));
  for (auto const& [name, sum] : m_index.carried)
    own.insert(std::filesystem::path(kCarriedFolder) / name);
  std::vector<std::string> found;
  for (auto const* const folder : {"", kCarriedFolder}) {
    std::error_code ignored;
    for (auto at = std::filesystem::directory_iterator(m_directory / folder, ignored);
         at != std::filesystem::directory_iterator(); at.increment(ignored)) {
      auto const name = std::filesystem::path(folder) / at->path().filename();
      if (!own.contains(name)) found.push_back(name.string());
    }
  }
  std::ranges::sort(found);
  return found;
}

std::filesystem::path CheckpointReader::shard_path(std::size_t shard) const {
  return m_directory / shard_name(m_index.shards[shard].rank);
}

// Returns which of m_index.extents has the element. The tensor must have such an element.
std::size_t CheckpointReader::extent_at(std::size_t tensor, std::int64_t element) const {
  auto const place = [](CheckpointIndex::Extent const& extent) {
    return std::pair(extent.tensor, extent.first);
  };
  auto const& extents = m_index.extents;
  auto const behind = std::ranges::upper_bound(extents, std::pair(tensor, element), {}, place);
  return static_cast<std::size_t>(behind - extents.begin()) - 1;
}

std::size_t CheckpointReader::number_of(std::string const& group, std::string const& name) const {
  auto const found = m_positions.find(dataset_path(group, name));
  if (found == m_positions.end()) fail_misused(group, name);
  return found->second;
}

void CheckpointReader::read(std::string const& group, std::string const& name, std::int64_t first,
                            std::span<std::byte> to) {
  auto const tensor = number_of(group, name);
  auto const& info = m_index.tensors[tensor];
  auto const size = spillway::size_bytes(info.type);
  bool const inside = first >= 0 && std::ssize(to) % size == 0 &&
                      first <= element_count(info.shape) - std::ssize(to) / size;
  if (!inside) fail_misused(group, name);
  while (!to.empty()) {
    auto const number = extent_at(tensor, first);
    auto const& extent = m_index.extents[number];
    auto const left = (extent.first + extent.elements - first) * size;
    auto const part = to.first(std::min(to.size(), static_cast<std::size_t>(left)));
    read_extent(number, first - extent.first, part);
    first += std::ssize(part) / size;
    to = to.subspan(part.size());
  }
}

TensorRange CheckpointReader::verified_range(std::string const& group, std::string const& name,
                                             TensorRange range) const {
  if (range.first >= range.last) return {range.first, range.first};
  auto const tensor = number_of(group, name);
  auto const elements = element_count(m_index.tensors[tensor].shape);
  if (range.first < 0 || range.last > elements) fail_misused(group, name);
  auto const block_of = [&](std::int64_t element) {
    auto const& extent = m_index.extents[extent_at(tensor, element)];
    auto const block = (element - extent.first) / extent.block_elements * extent.block_elements;
    return TensorRange{extent.first + block,
                       extent.first + std::min(block + extent.block_elements, extent.elements)};
  };
  return {block_of(range.first).first, block_of(range.last - 1).last};
}

void CheckpointReader::read_extent(std::size_t number, std::int64_t first,
                                   std::span<std::byte> to) {
  auto const& extent = m_index.extents[number];
  open_shard(extent.shard);
  auto const size = spillway::size_bytes(m_index.tensors[extent.tensor].type);
  read_range(m_file, shard_path(extent.shard), extent.offset_bytes + first * size, to);
  verify(number, first, to);
}

// Only one shard is open at a time, since there may be more shards than files that a process may
// open.
void CheckpointReader::open_shard(std::size_t shard) {
  if (m_open_shard == shard) return;
  auto const path = shard_path(shard);
  auto const& checksum = m_index.shards[shard].other_bytes_checksum;
  m_open_shard.reset();
  m_file = open_for_reading(path);
  bool const known = checksum.empty() || m_others_verified[shard];
  if (!known && checksum_of_other_bytes(m_file, path, m_index, shard) != checksum)
    fail_damaged(path, "what lies between its values is not what was written");
  m_others_verified[shard] = true;
  m_open_shard = shard;
}

// Divides what was read of an extent, from its element `first` on, into parts of blocks.
void CheckpointReader::verify(std::size_t number, std::int64_t first,
                              std::span<std::byte const> values) {
  auto const& extent = m_index.extents[number];
  auto const size = spillway::size_bytes(m_index.tensors[extent.tensor].type);
  while (!values.empty()) {
    auto const left = extent.block_elements - first % extent.block_elements;
    auto const part = values.first(std::min(values.size(), static_cast<std::size_t>(left * size)));
    verify_block(number, first, part);
    first += std::ssize(part) / size;
    values = values.subspan(part.size());
  }
}

void CheckpointReader::verify_block(std::size_t number, std::int64_t first,
                                    std::span<std::byte const> values) {
  auto const& extent = m_index.extents[number];
  auto const& tensor = m_index.tensors[extent.tensor];
  if (first % extent.block_elements == 0) m_progress[number] = Progress{first};
  auto const found = m_progress.find(number);
  if (found == m_progress.end()) return;
  auto& progress = found->second;
  if (progress.next != first) {
    m_progress.erase(found);
    return;
  }
  progress.checksum.add(values);
  progress.next += std::ssize(values) / spillway::size_bytes(tensor.type);
  if (progress.next % extent.block_elements != 0 && progress.next < extent.elements) return;
  auto const sum = checksum_text(progress.checksum.value());
  m_progress.erase(found);
  auto const at = static_cast<std::size_t>(first / extent.block_elements * kChecksumDigits);
  if (extent.checksums.compare(at, sum.size(), sum) == 0) return;
  fail_damaged(shard_path(extent.shard),
               dataset_path(tensor.group, tensor.name) + ": not the values that were written");
}

}  // namespace spillway
