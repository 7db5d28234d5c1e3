#include "io/h5/shard_writer.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_seal.hpp"
#include "io/h5/h5_file.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kElementBytes = sizeof(float);

// Ours, not the user's: a caller that forgets values must not get a sealed checkpoint.
void require(bool so, std::string const& dataset, char const* what) {
  if (!so) throw std::logic_error(fmt::format("shard: {}: {}", dataset, what));
}

}  // namespace

ShardWriter::ShardWriter(std::filesystem::path const& directory, int rank,
                         std::span<TensorSpec const> specs)
    : m_directory(directory), m_path(directory / shard_name(rank)), m_rank(rank) {
  for (auto const& spec : specs) {
    if (spec.shard != rank) continue;
    auto const path = dataset_path(spec.group, spec.name);
    m_progress.emplace(path, Progress{spec, 0, element_count(spec.shape), 0, {}});
  }
  if (m_progress.empty()) return;
  auto layout = H5File::create(m_path);
  for (auto& [path, progress] : m_progress) {
    layout.create_dataset(path, H5Type::f32, progress.spec.shape);
    progress.offset_bytes = layout.offset_bytes(path);
    require(progress.offset_bytes >= 0, path, "has no place in the file");
  }
  layout.close(Durable::no);  // values follow, and are synchronised with it
  m_file = OutputFile::open(m_path);
}

void ShardWriter::write(std::string const& group, std::string const& name,
                        std::int64_t first_element, std::span<float const> from) {
  auto const path = dataset_path(group, name);
  auto const found = m_progress.find(path);
  require(found != m_progress.end(), path, "is none of this rank's tensors");
  auto& progress = found->second;
  require(first_element == progress.written, path, "is not written in order");
  require(std::ssize(from) <= progress.elements - progress.written, path,
          "is written beyond its end");
  m_file->write(progress.offset_bytes + first_element * kElementBytes, std::as_bytes(from));
  progress.checksum.add(std::as_bytes(from));
  progress.written += std::ssize(from);
}

void ShardWriter::close() {
  if (m_progress.empty()) return;
  m_file->close();
  write_shard_seal(m_directory, m_rank, index());
}

// The index of this shard alone: it is number 0 there.
CheckpointIndex ShardWriter::index() const {
  CheckpointIndex index;
  for (auto const& [path, progress] : m_progress) {
    require(progress.written == progress.elements, path, "is not complete");
    index.tensors.push_back({progress.spec.group, progress.spec.name, progress.spec.shape});
    index.places.push_back({0, progress.offset_bytes, checksum_text(progress.checksum.value())});
  }
  auto const file = open_for_reading(m_path);
  index.shards.push_back({m_rank, size_bytes(file, m_path), ""});
  index.shards[0].rest = checksum_of_rest(file, m_path, index, 0);
  return index;
}

}  // namespace spillway
