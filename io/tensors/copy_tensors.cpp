#include "io/tensors/copy_tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "io/tensors/convert.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kTileBytes = 4 << 20;

// The source's number of what `wanted` is in the sink.
std::size_t counterpart(TensorSource const& source, TensorEntry const& wanted) {
  auto const refuse = [&](std::string const& why) {
    throw Error(Status::bad_input, fmt::format("{}: {}: {}", source.place(), wanted.name, why));
  };
  auto const number = source.tensors().find(wanted.name);
  if (!number) refuse("is not there");
  auto const& found = source.tensors()[*number];
  if (found.shape != wanted.shape) {
    refuse(fmt::format("is [{}] there, and [{}] is needed", fmt::join(found.shape, ", "),
                       fmt::join(wanted.shape, ", ")));
  }
  if (found.type != wanted.type && !(is_float(found.type) && is_float(wanted.type)))
    refuse(fmt::format("is of {}, which does not become {}", name(found.type), name(wanted.type)));
  return *number;
}

// Calls body(first, elements) for one tile after the other.
template <class Body>
void in_tiles(std::int64_t elements, std::int64_t element_bytes, Body const& body) {
  auto const tile = kTileBytes / element_bytes;
  for (std::int64_t first = 0; first < elements; first += tile)
    body(first, static_cast<std::size_t>(std::min(tile, elements - first)));
}

}  // namespace

void copy_tensors(TensorSource& source, TensorSink& sink) {
  std::vector<std::size_t> from;
  for (auto const& wanted : sink.tensors()) from.push_back(counterpart(source, wanted));
  std::vector<std::byte> bytes(kTileBytes);
  std::vector<float> floats(kTileBytes / sizeof(float));
  for (std::size_t to = 0; to < from.size(); ++to) {
    auto const type = sink.tensors()[to].type;
    auto const elements = element_count(sink.tensors()[to]);
    if (type == source.tensors()[from[to]].type) {
      auto const element_bytes = size_bytes(type);
      in_tiles(elements, element_bytes, [&](auto first, std::size_t count) {
        auto const tile = std::span(bytes).first(count * static_cast<std::size_t>(element_bytes));
        source.read(from[to], first, tile);
        sink.write(to, first, tile);
      });
    } else {
      in_tiles(elements, sizeof(float), [&](auto first, std::size_t count) {
        auto const tile = std::span(floats).first(count);
        read_floats(source, from[to], first, tile);
        write_floats(sink, to, first, tile);
      });
    }
  }
}

}  // namespace spillway
