#include "runtime/bind.hpp"

namespace spillway {
namespace {

BatchBuffers batch_buffers(EngineParts const& parts, Item const& item, int parity) {
  std::vector<BatchBuffers::Field> fields;
  for (std::size_t i = 0; i < item.operands.size(); ++i) {
    auto const& buffer = operand(parts.program, item, i);
    for (auto const& [field, stack, tensor] : parts.program.known.batch) {
      if (tensor == buffer.tensor)
        fields.push_back({field, stack, host_bytes(parts.tiers, buffer, parity)});
    }
  }
  return BatchBuffers(std::move(fields));
}

}  // namespace

Action bind_load_batch(EngineParts const& parts, Item const& item) {
  std::array const to{batch_buffers(parts, item, 0), batch_buffers(parts, item, 1)};
  return [&batches = parts.batches, to](ItemContext const& now) {
    batches.load(now.step, now.micro_batch, to[static_cast<std::size_t>(now.parity)]);
  };
}

}  // namespace spillway
