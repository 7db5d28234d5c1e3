#include "io/tensors/tensor_sink.hpp"

#include <algorithm>
#include <vector>

#include "io/tensors/convert.hpp"

namespace spillway {

void write_floats(TensorSink& sink, std::size_t tensor, std::int64_t first,
                  std::span<float const> from) {
  auto const type = sink.tensors()[tensor].type;
  if (type == ElementType::f32) return sink.write(tensor, first, std::as_bytes(from));
  constexpr std::size_t most = 1 << 16;  // most elements at once; a cache holds them in both types
  auto const element_bytes = static_cast<std::size_t>(size_bytes(type));
  std::vector<std::byte> buffer(std::min(most, from.size()) * element_bytes);
  while (!from.empty()) {
    auto const piece = from.first(std::min(most, from.size()));
    auto const bytes = std::span(buffer).first(piece.size() * element_bytes);
    from_floats(type, piece, bytes);
    sink.write(tensor, first, bytes);
    first += std::ssize(piece);
    from = from.subspan(piece.size());
  }
}

}  // namespace spillway
