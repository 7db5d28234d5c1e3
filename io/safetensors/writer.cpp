#include "io/safetensors/writer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/safetensors/weight_index.hpp"

namespace spillway {
namespace {

void require_none(std::filesystem::path const& directory) {
  for (auto const* const name : {kWeightFile, kIndexFile}) {
    auto const path = directory / name;
    std::error_code ignored;  // what cannot be examined cannot be written either
    if (!std::filesystem::exists(path, ignored)) continue;
    throw Error(
        Status::bad_input,
        fmt::format("{}: is there already: remove it, or choose another directory", path.string()));
  }
}

}  // namespace

std::vector<WeightShard> plan_shards(TensorList const& tensors, std::int64_t most_bytes) {
  std::vector<WeightShard> shards(1);
  std::int64_t bytes = 0;  // the size of the last shard
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    bytes += size_bytes(tensors[i]);
    if (bytes > most_bytes && !shards.back().tensors.empty()) {
      shards.emplace_back();
      bytes = size_bytes(tensors[i]);
    }
    shards.back().tensors.push_back(i);
  }
  for (std::size_t i = 0; i < shards.size(); ++i) {
    shards[i].file = shards.size() == 1 ? kWeightFile : shard_file(i + 1, shards.size());
    std::ranges::stable_sort(shards[i].tensors, std::ranges::greater(),
                             [&](std::size_t tensor) { return size_bytes(tensors[tensor].type); });
  }
  return shards;
}

SafetensorsWriter::SafetensorsWriter(std::filesystem::path const& directory, TensorList tensors,
                                     std::int64_t most_shard_bytes)
    : m_directory(directory),
      m_tensors(std::move(tensors)),
      m_shards(plan_shards(m_tensors, most_shard_bytes)),
      m_places(m_tensors.size()) {
  make_directories(m_directory);
  require_none(m_directory);
  require_free_bytes(m_directory, size_bytes(m_tensors), "the model");
  try {
    for (std::size_t i = 0; i < m_shards.size(); ++i) begin_shard(i);
  } catch (Error const&) {
    remove_unfinished();
    throw;
  }
}

SafetensorsWriter::~SafetensorsWriter() {
  if (!m_finished) remove_unfinished();
}

void SafetensorsWriter::begin_shard(std::size_t shard) {
  std::vector<TensorEntry> entries;
  for (auto const tensor : m_shards[shard].tensors) entries.push_back(m_tensors[tensor]);
  SafetensorsHeader const header{placed(entries), {{"format", "pt"}}};
  auto const bytes = header_bytes(header);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    m_places[m_shards[shard].tensors[i]] = {
        shard, std::ssize(bytes) + header.tensors[i].begin_bytes, {}};
  }
  m_file = OutputFile::create(prepared_path(m_directory / m_shards[shard].file));
  m_open = shard;
  m_file->write(0, std::as_bytes(std::span(bytes)));
  close_shard();
}

void SafetensorsWriter::open_shard(std::size_t shard) {
  if (m_file && m_open == shard) return;
  close_shard();
  m_file = OutputFile::open(prepared_path(m_directory / m_shards[shard].file));
  m_open = shard;
}

// Waits for storage only if the file is complete, so that no bytes are waited for twice.
void SafetensorsWriter::close_shard() {
  if (!m_file) return;
  bool const complete = std::ranges::all_of(
      m_shards[m_open].tensors, [&](std::size_t tensor) { return is_complete(tensor); });
  auto file = std::move(*m_file);
  m_file.reset();
  file.close(complete ? Durable::yes : Durable::no);
}

bool SafetensorsWriter::is_complete(std::size_t tensor) const {
  return m_places[tensor].written.cover(element_count(m_tensors[tensor]));
}

void SafetensorsWriter::write(std::size_t tensor, std::int64_t first,
                              std::span<std::byte const> from) {
  auto const at = m_tensors.offset_bytes(tensor, first, from.size());
  auto& place = m_places[tensor];
  auto const elements = std::ssize(from) / size_bytes(m_tensors[tensor].type);
  if (!place.written.add(first, first + elements))
    throw std::logic_error(m_tensors[tensor].name + ": elements are written twice");
  open_shard(place.shard);
  m_file->write(place.offset_bytes + at, from);
}

void SafetensorsWriter::finish() {
  for (std::size_t i = 0; i < m_tensors.size(); ++i) {
    if (!is_complete(i)) throw std::logic_error(m_tensors[i].name + ": is not complete");
  }
  close_shard();
  publish();
  m_finished = true;
}

void SafetensorsWriter::publish() {
  WeightIndex index;
  for (auto const& shard : m_shards) {
    for (auto const tensor : shard.tensors) {
      index.files.emplace(m_tensors[tensor].name, shard.file);
      index.total_bytes += size_bytes(m_tensors[tensor]);
    }
    publish_text(m_directory / shard.file);
    ++m_published;
  }
  if (m_shards.size() > 1) replace_text(m_directory / kIndexFile, index_text(index));
}

void SafetensorsWriter::remove_unfinished() const noexcept try {
  std::error_code ignored;
  for (std::size_t i = 0; i < m_shards.size(); ++i) {
    auto const path = m_directory / m_shards[i].file;
    std::filesystem::remove(i < m_published ? path : prepared_path(path), ignored);
  }
} catch (std::bad_alloc const&) {  // without memory for its path, a file is not removed
}

}  // namespace spillway
