#include "io/safetensors/header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "io/safetensors/header_events.hpp"

namespace spillway {
namespace {

[[noreturn]] void fail_tensor(std::string const& source, PlacedTensor const& tensor,
                              std::string const& why) {
  throw Error(Status::damaged, fmt::format("{}: {}: {}", source, tensor.entry.name, why));
}

// Returns a shape as text for a message, cut short if a file claims more than eight axes.
std::string shape_text(std::vector<std::int64_t> const& shape) {
  constexpr std::size_t most_axes = 8;
  auto const begin = std::span(shape).first(std::min(shape.size(), most_axes));
  return fmt::format("[{}{}]", fmt::join(begin, ", "), shape.size() > most_axes ? ", ..." : "");
}

void require_size(PlacedTensor const& tensor, std::string const& source) {
  std::optional<std::int64_t> bytes = size_bytes(tensor.entry.type);
  for (auto const extent : tensor.entry.shape) bytes = bytes ? product({*bytes, extent}) : bytes;
  auto const shape = shape_text(tensor.entry.shape);
  if (!bytes)
    fail_tensor(source, tensor, fmt::format("has more elements than 63 bits count: {}", shape));
  if (tensor.begin_bytes > tensor.end_bytes) fail_tensor(source, tensor, "ends before it begins");
  if (tensor.end_bytes - tensor.begin_bytes != *bytes) {
    fail_tensor(
        source, tensor,
        fmt::format("has {} bytes, but {} of {} are {}", tensor.end_bytes - tensor.begin_bytes,
                    shape, name(tensor.entry.type), *bytes));
  }
}

// Throws Error(damaged) unless the tensors' bytes fill the `data_bytes` behind the header, without
// a hole and without an overlap.
void require_no_gap(SafetensorsHeader const& header, std::int64_t data_bytes,
                    std::string const& source) {
  PlacedTensor const* last = nullptr;
  std::int64_t end = 0;
  for (auto const& tensor : header.tensors) {
    if (tensor.end_bytes > data_bytes) {
      fail_tensor(
          source, tensor,
          fmt::format("ends {} bytes beyond the end of the file", tensor.end_bytes - data_bytes));
    }
    if (tensor.begin_bytes < end)
      fail_tensor(source, tensor, fmt::format("overlaps {}", last->entry.name));
    if (tensor.begin_bytes > end) {
      fail_tensor(source, tensor,
                  fmt::format("{} bytes before it belong to no tensor", tensor.begin_bytes - end));
    }
    end = tensor.end_bytes;
    last = &tensor;
  }
  if (end == data_bytes) return;
  throw Error(Status::damaged,
              fmt::format("{}: {} bytes at its end belong to no tensor", source, data_bytes - end));
}

}  // namespace

SafetensorsHeader parse_header(std::string_view json, std::int64_t data_bytes,
                               std::string const& source) {
  auto header = take_apart(json, source);
  for (auto const& tensor : header.tensors) require_size(tensor, source);
  std::ranges::sort(header.tensors, {}, [](PlacedTensor const& tensor) {
    return std::tuple(tensor.begin_bytes, tensor.end_bytes, std::string_view(tensor.entry.name));
  });
  require_no_gap(header, data_bytes, source);
  return header;
}

std::vector<PlacedTensor> placed(std::span<TensorEntry const> entries) {
  std::vector<PlacedTensor> tensors;
  std::int64_t end = 0;
  for (auto const& entry : entries) {
    auto const begin = std::exchange(end, end + size_bytes(entry));
    tensors.push_back({entry, begin, end});
  }
  return tensors;
}

std::string header_bytes(SafetensorsHeader const& header) {
  auto const quoted = [](std::string const& text) { return nlohmann::json(text).dump(); };
  auto text = fmt::format("{{\"{}\":{}", kMetadata, nlohmann::json(header.metadata).dump());
  for (auto const& [entry, begin, end] : header.tensors) {
    text +=
        fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                    quoted(entry.name), name(entry.type), fmt::join(entry.shape, ","), begin, end);
  }
  text += '}';
  while (text.size() % 8 != 0) text += ' ';
  std::string length(kLengthBytes, '\0');
  for (std::size_t i = 0; i < length.size(); ++i)
    length[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  return length + text;
}

}  // namespace spillway
