#include "io/h5/shard_writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_seal.hpp"
#include "io/h5/element_h5_type.hpp"
#include "io/h5/h5_file.hpp"

namespace spillway {
namespace {

// Throws std::logic_error unless `so`, so that a caller that forgets values gets no sealed
// checkpoint.
void require(bool so, std::string const& dataset, char const* what) {
  if (!so) throw std::logic_error(fmt::format("shard: {}: {}", dataset, what));
}

}  // namespace

ShardWriter::ShardWriter(std::filesystem::path const& directory, int rank,
                         CheckpointLayout const& layout)
    : m_directory(directory), m_path(directory / shard_name(rank)), m_rank(rank) {
  for (auto const& extent : layout.extents) {
    if (extent.rank != rank) continue;
    auto const& tensor = layout.tensors[extent.tensor];
    auto const path = dataset_path(tensor.group, tensor.name);
    require(m_by_path.emplace(path, m_progress.size()).second, path, "is this rank's twice");
    m_progress.push_back({tensor, extent.first, extent.elements});
  }
  if (m_progress.empty()) return;
  auto file = H5File::create(m_path);
  for (auto& progress : m_progress) {
    auto const& [group, name, shape, type] = progress.tensor;
    auto const path = dataset_path(group, name);
    bool const whole = progress.elements == element_count(shape);
    file.create_dataset(path, h5_type(type), whole ? shape : std::vector{progress.elements});
    progress.offset_bytes = file.offset_bytes(path);
    require(progress.offset_bytes >= 0, path, "has no place in the file");
  }
  file.close(Durable::no);  // the file is synchronised once the values are in it
  m_file = OutputFile::open(m_path);
}

void ShardWriter::write(std::string const& group, std::string const& name,
                        std::int64_t first_element, std::span<std::byte const> from) {
  auto const path = dataset_path(group, name);
  auto const found = m_by_path.find(path);
  require(found != m_by_path.end(), path, "is none of this rank's tensors");
  auto& progress = m_progress[found->second];
  require(first_element == progress.first + progress.written, path, "is not written in order");
  auto const size = size_bytes(progress.tensor.type);
  require(std::ssize(from) % size == 0, path, "is written by parts of elements");
  require(std::ssize(from) / size <= progress.elements - progress.written, path,
          "is written beyond its end");
  m_file->write(progress.offset_bytes + progress.written * size, from);
  add_to_checksums(progress, from);
}

void ShardWriter::add_to_checksums(Progress& progress, std::span<std::byte const> from) {
  auto const size = size_bytes(progress.tensor.type);
  while (!from.empty()) {
    auto const left = kBlockElements - progress.written % kBlockElements;
    auto const part = from.first(std::min(from.size(), static_cast<std::size_t>(left * size)));
    progress.checksum.add(part);
    progress.written += std::ssize(part) / size;
    from = from.subspan(part.size());
    if (progress.written % kBlockElements != 0 && progress.written < progress.elements) continue;
    progress.checksums += checksum_text(progress.checksum.value());
    progress.checksum.restart();
  }
}

void ShardWriter::close() {
  if (m_progress.empty()) return;
  m_file->close();
  write_shard_seal(m_directory, m_rank, index());
}

// Returns the index of this shard alone, in which the shard has number 0.
CheckpointIndex ShardWriter::index() const {
  CheckpointIndex index;
  for (auto const& progress : m_progress) {
    auto const& tensor = progress.tensor;
    require(progress.written == progress.elements, dataset_path(tensor.group, tensor.name),
            "is not complete");
    index.extents.push_back({index.tensors.size(), progress.first, progress.elements, 0,
                             progress.offset_bytes, kBlockElements, progress.checksums});
    index.tensors.push_back(tensor);
  }
  auto const file = open_for_reading(m_path);
  index.shards.push_back({m_rank, size_bytes(file, m_path), ""});
  index.shards[0].other_bytes_checksum = checksum_of_other_bytes(file, m_path, index, 0);
  return index;
}

}  // namespace spillway
