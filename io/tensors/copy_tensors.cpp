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

// Returns the index of the source's tensor for the sink's tensor `wanted`. Throws Error(bad_input)
// if the source lacks it, or has it in another shape or in a type that cannot be converted.
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

// Calls body(first, count) for one range of elements after the other, each of at most kTileBytes.
template <class Body>
void in_tiles(std::int64_t elements, std::int64_t element_bytes, Body const& body) {
  auto const tile = kTileBytes / element_bytes;
  for (std::int64_t first = 0; first < elements; first += tile)
    body(first, static_cast<std::size_t>(std::min(tile, elements - first)));
}

// A Copy copies one tensor at a time and, if its elements are floats, returns their ValueCounts.
class Copy {
 public:
  Copy(TensorSource& source, TensorSink& sink) : m_source(source), m_sink(sink) {}

  ValueCounts run(std::size_t from, std::size_t to) {
    auto const& wanted = m_sink.tensors()[to];
    bool const as_it_is = wanted.type == m_source.tensors()[from].type;
    auto const element_bytes = size_bytes(wanted.type);
    ValueCounts counts;
    in_tiles(element_count(wanted), std::max(kFloatBytes, element_bytes),
             [&](auto first, std::size_t count) {
               auto const values = std::span(m_floats).first(count);
               if (as_it_is) {
                 auto const size = count * static_cast<std::size_t>(element_bytes);
                 copy_bytes(from, to, first, std::span(m_bytes).first(size), values);
               } else {
                 read_floats(m_source, from, first, values);
                 write_floats(m_sink, to, first, values);
               }
               if (is_float(wanted.type)) counts += count_values(values, wanted.type);
             });
    return counts;
  }

 private:
  static constexpr std::int64_t kFloatBytes = sizeof(float);

  // Copies the elements from `first` on that fill `tile`. If the elements are floats, also converts
  // them into `values`.
  void copy_bytes(std::size_t from, std::size_t to, std::int64_t first, std::span<std::byte> tile,
                  std::span<float> values) {
    m_source.read(from, first, tile);
    m_sink.write(to, first, tile);
    auto const type = m_sink.tensors()[to].type;
    if (is_float(type)) to_floats(type, tile, values);
  }

  TensorSource& m_source;
  TensorSink& m_sink;
  std::vector<std::byte> m_bytes = std::vector<std::byte>(kTileBytes);
  std::vector<float> m_floats = std::vector<float>(kTileBytes / kFloatBytes);
};

}  // namespace

void copy_tensors(TensorSource& source, TensorSink& sink, CopiedTensor const& told) {
  std::vector<std::size_t> from;
  for (auto const& wanted : sink.tensors()) from.push_back(counterpart(source, wanted));
  Copy copy(source, sink);
  for (std::size_t to = 0; to < from.size(); ++to) {
    auto const counts = copy.run(from[to], to);
    if (is_float(sink.tensors()[to].type)) told(sink.tensors()[to], counts);
  }
}

}  // namespace spillway
