#include "io/tensors/tensor_source.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "io/tensors/convert.hpp"

namespace spillway {

void read_floats(TensorSource& source, std::size_t tensor, std::int64_t first,
                 std::span<float> to) {
  auto const& [tensor_name, type, shape] = source.tensors()[tensor];
  if (!is_float(type)) {
    throw Error(Status::bad_input,
                fmt::format("{}: {}: is of {}; only F16, BF16 and F32 can be read as weights",
                            source.place(), tensor_name, name(type)));
  }
  if (type == ElementType::f32) return source.read(tensor, first, std::as_writable_bytes(to));
  constexpr std::size_t most = 1 << 16;  // most elements at once; a cache holds them in both types
  auto const element_bytes = static_cast<std::size_t>(size_bytes(type));
  std::vector<std::byte> buffer(std::min(most, to.size()) * element_bytes);
  while (!to.empty()) {
    auto const piece = to.first(std::min(most, to.size()));
    auto const bytes = std::span(buffer).first(piece.size() * element_bytes);
    source.read(tensor, first, bytes);
    to_floats(type, bytes, piece);
    first += std::ssize(piece);
    to = to.subspan(piece.size());
  }
}

}  // namespace spillway
