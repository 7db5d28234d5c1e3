#include "runtime/bind.hpp"

namespace spillway {
namespace {

template <class T>
void place(T*& pointer, TensorId wanted, Buffer const& buffer, std::span<std::byte> bytes) {
  if (wanted >= 0 && buffer.tensor == wanted) pointer = reinterpret_cast<T*>(bytes.data());
}

BatchPointers batch_pointers(EngineParts const& parts, Item const& item, int parity) {
  BatchPointers to;
  auto const& known = parts.program.known;
  for (std::size_t i = 0; i < item.operands.size(); ++i) {
    auto const& buffer = operand(parts.program, item, i);
    auto const bytes = buffer_bytes(parts.tiers, buffer, parity);
    place(to.tokens, known.tokens, buffer, bytes);
    place(to.targets, known.targets, buffer, bytes);
    place(to.weights, known.weights, buffer, bytes);
    place(to.samples, known.samples, buffer, bytes);
    place(to.position, known.position, buffer, bytes);
  }
  return to;
}

}  // namespace

Action bind_load_batch(EngineParts const& parts, Item const& item) {
  std::array const to{batch_pointers(parts, item, 0), batch_pointers(parts, item, 1)};
  return [&batches = parts.batches, to](ItemContext const& now) {
    batches.load(now.step, now.micro_batch, to[static_cast<std::size_t>(now.parity)]);
  };
}

}  // namespace spillway
