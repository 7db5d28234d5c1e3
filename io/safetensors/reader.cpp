#include "io/safetensors/reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "io/file/inside.hpp"
#include "io/file/read_file.hpp"
#include "io/safetensors/header.hpp"
#include "io/safetensors/weight_index.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_file(fs::path const& path, std::string const& why, Status status) {
  throw Error(status, fmt::format("{}: {}", path.string(), why));
}

bool is_index(fs::path const& path) {
  return path.extension() == ".json";
}

// Returns the file to begin with: `path` itself or, if that is a directory, the weight file or the
// index in it. Throws Error(bad_input) if a directory has neither.
fs::path entry_file(fs::path const& path) {
  std::error_code ignored;  // opening the file reports the error
  if (!fs::is_directory(path, ignored)) return path;
  for (auto const* const name : {kWeightFile, kIndexFile})
    if (fs::exists(path / name, ignored)) return path / name;
  constexpr auto advice =
      "; its weights are in another format: load it in transformers and save it with "
      "save_pretrained, which writes safetensors";
  refuse_file(path,
              fmt::format("has neither {} nor {}{}", kWeightFile, kIndexFile,
                          has_pickled_weights(path) ? advice : ""),
              Status::bad_input);
}

// Returns the header's length. Throws Error unless the whole header is in the file.
std::int64_t header_length(FileDescriptor const& file, fs::path const& path,
                           std::int64_t file_bytes) {
  constexpr char const* other = "is no safetensors file";
  std::array<std::byte, kLengthBytes + 1> begin{};  // the length, and the first byte of the text
  if (file_bytes < std::ssize(begin)) refuse_file(path, other, Status::bad_input);
  read_range(file, path, 0, begin);
  std::uint64_t length = 0;
  for (int i = kLengthBytes; i-- > 0;)
    length = length << 8 | std::to_integer<std::uint64_t>(begin[static_cast<std::size_t>(i)]);
  constexpr std::string_view pointer = "version h";  // so begin pointers of Git LFS
  if (std::ranges::equal(std::as_bytes(std::span(pointer)), begin))
    refuse_file(path, "is a pointer of Git LFS, not the file: fetch it with git lfs pull",
                Status::bad_input);
  if (begin.back() != std::byte{'{'}) refuse_file(path, other, Status::bad_input);
  if (length > std::uint64_t{kMostHeaderBytes}) {
    refuse_file(path,
                fmt::format("is no safetensors file, or has a header of {} bytes, more than the {} "
                            "that are read",
                            length, kMostHeaderBytes),
                Status::bad_input);
  }
  auto const bytes = static_cast<std::int64_t>(length);
  if (bytes > file_bytes - kLengthBytes)
    refuse_file(path, "is cut short within its header", Status::damaged);
  return bytes;
}

struct OpenedFile {
  SafetensorsHeader header;
  std::int64_t data_begin_bytes, size_bytes;
};

OpenedFile read_header(FileDescriptor const& file, fs::path const& path) {
  auto const file_bytes = size_bytes(file, path);
  auto const length = header_length(file, path, file_bytes);
  std::string text(static_cast<std::size_t>(length), '\0');
  read_range(file, path, kLengthBytes, std::as_writable_bytes(std::span(text)));
  auto const begin = kLengthBytes + length;
  return {parse_header(text, file_bytes - begin, path.string()), begin, file_bytes};
}

// Throws Error(damaged) unless the index says that all `entries` are in the file `path`.
void require_indexed(std::vector<TensorEntry> const& entries, fs::path const& path,
                     WeightIndex const& index) {
  for (auto const& entry : entries) {
    auto const found = index.files.find(entry.name);
    auto const fail = [&](std::string const& why) {
      refuse_file(path, fmt::format("{}: {}", entry.name, why), Status::damaged);
    };
    if (found == index.files.end()) fail("the index does not name it");
    if (found->second != path.filename())
      fail(fmt::format("the index says that it is in {}", found->second));
  }
}

}  // namespace

SafetensorsReader::SafetensorsReader(fs::path const& path) : m_path(path) {
  auto const file = entry_file(path);
  if (is_index(file))
    add_indexed(file);
  else
    m_tensors = TensorList(add_file(file));
}

void SafetensorsReader::add_indexed(fs::path const& path) {
  auto const text = read_text(open_file(path), path, kMostIndexBytes);
  auto const index = parse_index(text, path.string());
  std::set<std::string> files;
  for (auto const& [tensor, file] : index.files) files.insert(file);
  std::vector<TensorEntry> entries;
  for (auto const& file : files) {
    auto const shard = path.parent_path() / file;
    std::error_code ignored;  // opening the file reports the error
    if (fs::symlink_status(shard, ignored).type() == fs::file_type::not_found)
      refuse_file(shard, "is not there, and the index names it", Status::bad_input);
    auto of_file = add_file(shard);
    require_indexed(of_file, m_files.back(), index);
    std::ranges::move(of_file, std::back_inserter(entries));
  }
  m_tensors = TensorList(std::move(entries));
  for (auto const& [tensor, file] : index.files) {
    if (m_tensors.find(tensor)) continue;
    refuse_file(path.parent_path() / file,
                fmt::format("{}: is not there, where the index says it is", tensor),
                Status::damaged);
  }
}

std::vector<TensorEntry> SafetensorsReader::add_file(fs::path const& path) {
  auto opened = read_header(open_file(path), path);
  std::vector<TensorEntry> entries;
  for (auto& tensor : opened.header.tensors) {
    m_places.push_back({m_files.size(), opened.data_begin_bytes + tensor.begin_bytes});
    entries.push_back(std::move(tensor.entry));
  }
  m_files.push_back(path);
  m_size_bytes += opened.size_bytes;
  return entries;
}

// A link that the user named is followed anywhere, and all others only as open_inside allows.
FileDescriptor SafetensorsReader::open_file(fs::path const& path) const {
  return path == m_path ? open_for_reading(path)
                        : open_inside(path.parent_path(), path.filename().string());
}

void SafetensorsReader::read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) {
  auto const at = m_tensors.offset_bytes(tensor, first, to.size());
  auto const [file, offset_bytes] = m_places[tensor];
  if (m_open != file) {
    m_open.reset();
    m_file = open_file(m_files[file]);
    m_open = file;
  }
  read_range(m_file, m_files[file], offset_bytes + at, to);
}

bool has_pickled_weights(fs::path const& directory) {
  std::error_code ignored;
  return fs::exists(directory / "pytorch_model.bin", ignored) ||
         fs::exists(directory / "pytorch_model.bin.index.json", ignored);
}

bool is_safetensors(fs::path const& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return fs::exists(path / kWeightFile, ignored) || fs::exists(path / kIndexFile, ignored);
  return path.extension() == ".safetensors" || path.string().ends_with(".safetensors.index.json");
}

}  // namespace spillway
