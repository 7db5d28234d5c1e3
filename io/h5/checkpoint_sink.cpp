#include "io/h5/checkpoint_sink.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_file.hpp"

namespace spillway {
namespace {

constexpr int kRank = 0;

CheckpointLayout layout_of(TensorList const& tensors) {
  std::vector<TensorInfo> infos;
  for (auto const& tensor : tensors) {
    if (tensor.type != ElementType::f32)
      throw std::logic_error("checkpoint: " + tensor.name + ": is not f32");
    infos.push_back({kWeightsGroup, tensor.name, tensor.shape});
  }
  return spread_evenly(std::move(infos), 1);
}

// Returns `directory`. Throws Error(bad_input) if its file system has no room for the tensors.
std::filesystem::path const& with_room(std::filesystem::path const& directory,
                                       TensorList const& tensors) {
  require_free_bytes(directory, size_bytes(tensors), "the checkpoint");
  return directory;
}

}  // namespace

CheckpointSink::CheckpointSink(std::filesystem::path const& directory, TensorList tensors,
                               std::map<std::string, std::string> run_strings,
                               NewDirectory::MayReplace may_replace)
    : m_tensors(std::move(tensors)),
      m_run_strings(std::move(run_strings)),
      m_directory(directory, std::move(may_replace)),
      m_layout(layout_of(m_tensors)),
      m_shard(with_room(m_directory.path(), m_tensors), kRank, m_layout) {}

void CheckpointSink::write(std::size_t tensor, std::int64_t first,
                           std::span<std::byte const> from) {
  m_tensors.offset_bytes(tensor, first, from.size());  // throws if the elements do not exist
  m_shard.write(kWeightsGroup, m_tensors[tensor].name, first, from);
}

void CheckpointSink::carry(CarriedFiles const& files) {
  m_carried = write_carried(m_directory.path(), files);
}

void CheckpointSink::finish() {
  m_shard.close();
  write_manifest(m_directory.path(), m_layout, m_run_strings, m_carried);
  m_directory.publish();
}

}  // namespace spillway
