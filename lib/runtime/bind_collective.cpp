#include <vector>

#include "comm/comm.hpp"
#include "graph/gradient_slice.hpp"
#include "runtime/bind.hpp"

namespace spillway {
namespace {

// Every rank's slice of the item's gradient, a chunk's or a part of one, in bytes.
std::vector<ByteSlice> slices(Program const& program, Item const& item, int ranks) {
  auto const tensor = operand(program, item, 0).tensor;
  auto const& gradient = program.tensors[static_cast<std::size_t>(tensor)];
  auto const element = size_bytes(gradient.dtype);
  std::vector<ByteSlice> result;
  for (int rank = 0; rank < ranks; ++rank) {
    auto const slice = gradient_slice(element_count(gradient.shape), rank, ranks);
    result.push_back({slice.first * element, slice.count * element});
  }
  return result;
}

}  // namespace

Action bind_all_to_all(EngineParts const& parts, Item const& item) {
  auto const gradient = versions(parts.tiers, operand(parts.program, item, 0));
  auto const received = versions(parts.tiers, operand(parts.program, item, 1));
  return [&comm = parts.comm, gradient, received,
          ranges = slices(parts.program, item, parts.comm.size())](ItemContext const& now) {
    auto const i = static_cast<std::size_t>(now.parity);
    comm.all_to_all(gradient[i], received[i], ranges);
  };
}

Action bind_all_gather(EngineParts const& parts, Item const& item) {
  auto const gradient = versions(parts.tiers, operand(parts.program, item, 0));
  return [&comm = parts.comm, gradient,
          ranges = slices(parts.program, item, parts.comm.size())](ItemContext const& now) {
    comm.all_gather(gradient[static_cast<std::size_t>(now.parity)], ranges);
  };
}

}  // namespace spillway
