#include "io/h5/shard_writer.hpp"

#include <cassert>

namespace spillway {

ShardWriter::ShardWriter(std::filesystem::path const& directory, int rank,
                         std::span<TensorSpec const> specs)
    : m_file(H5File::create(directory / shard_name(rank))) {
  for (auto const& spec : specs) {
    if (spec.shard != rank) continue;
    auto const path = dataset_path(spec.group, spec.name);
    m_file.create_dataset(path, H5Type::f32, spec.shape);
    m_progress.emplace(path, Progress{element_count(spec.shape), 0, {}});
  }
}

void ShardWriter::write(std::string const& group, std::string const& name,
                        std::int64_t first_element, std::span<float const> from) {
  auto const path = dataset_path(group, name);
  assert(m_progress.contains(path));
  auto& progress = m_progress.at(path);
  assert(first_element == progress.written);
  m_file.write(path, first_element, from);
  progress.checksum.add(std::as_bytes(from));
  progress.written += static_cast<std::int64_t>(from.size());
}

void ShardWriter::close() {
  for (auto const& [path, progress] : m_progress) {
    assert(progress.written == progress.elements);
    m_file.set_text(path, "xxh3", checksum_text(progress.checksum.value()));
  }
  m_file.close();
}

}  // namespace spillway
