#include "safetensors_targets.hpp"

#include <cstring>
#include <span>
#include <stdexcept>

#include "file_targets.hpp"
#include "io/safetensors/header.hpp"
#include "io/safetensors/reader.hpp"
#include "io/safetensors/weight_index.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway::test {
namespace {

namespace fs = std::filesystem;

SafetensorsHeader sound_header() {
  std::vector<TensorEntry> const entries = {{"wte.weight", ElementType::f32, {3, 5}},
                                            {"scalar", ElementType::f64, {}},
                                            {"ln.\"bias\"", ElementType::bf16, {7}},
                                            {"empty", ElementType::f16, {0, 4}},
                                            {"mask", ElementType::boolean, {3}}};
  return {placed(entries), {{"format", "pt"}, {"made \u00e4 by", "hand"}}};
}

std::int64_t data_bytes(SafetensorsHeader const& header) {
  return header.tensors.empty() ? 0 : header.tensors.back().end_bytes;
}

// Without the length.
std::string header_text(SafetensorsHeader const& header) {
  return header_bytes(header).substr(kLengthBytes);
}

// A header that is believed places every byte in one tensor, and is written as the same.
FuzzTarget header() {
  auto const bytes = data_bytes(sound_header());
  return {"safetensors_header", {header_text(sound_header())}, [=](std::string const& text) {
            auto const header = parse_header(text, bytes, "file");
            std::int64_t next = 0;
            for (auto const& [entry, begin, end] : header.tensors) {
              if (begin != next || end - begin != size_bytes(entry))
                throw std::logic_error("bytes of no tensor, or of two, are believed");
              next = end;
            }
            if (next != bytes) throw std::logic_error("a file that is too long is believed");
            if (parse_header(header_text(header), bytes, "file") != header)
              throw std::logic_error("a header that is believed is written as another");
          }};
}

// All tensors of a file that is believed are, one after the other, the bytes behind its header.
FuzzTarget file(fs::path const& path) {
  auto const header = sound_header();
  auto const sound =
      header_bytes(header) + std::string(static_cast<std::size_t>(data_bytes(header)), '\7');
  return {"safetensors", {sound}, [=](std::string const& bytes) {
            write_file(path, bytes);
            SafetensorsReader reader(path);
            std::string data;
            for (std::size_t i = 0; i < reader.tensors().size(); ++i) {
              auto const size = static_cast<std::size_t>(size_bytes(reader.tensors()[i]));
              std::string values(size, '\0');
              reader.read(i, 0, std::as_writable_bytes(std::span(values)));
              data += values;
            }
            std::uint64_t length = 0;
            std::memcpy(&length, bytes.data(), kLengthBytes);
            if (data != bytes.substr(kLengthBytes + length))
              throw std::logic_error("other values than the file's are read");
          }};
}

// What an index that is believed names are files of one directory.
FuzzTarget index() {
  WeightIndex const sound{{{"wte.weight", shard_file(1, 2)}, {"ln.bias", shard_file(2, 2)}}, 88};
  return {"weight_index", {index_text(sound)}, [](std::string const& bytes) {
            auto const index = parse_index(bytes, "index");
            for (auto const& [tensor, file] : index.files)
              if (fs::path(file).filename() != file || file == "." || file == "..")
                throw std::logic_error("a path is believed: " + file);
            if (parse_index(index_text(index), "index").files != index.files)
              throw std::logic_error("an index that is believed is written as another");
          }};
}

}  // namespace

std::vector<FuzzTarget> safetensors_targets(fs::path const& scratch) {
  return {file(scratch / "weights.safetensors"), header(), index()};
}

}  // namespace spillway::test
