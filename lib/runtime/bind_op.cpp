#include <stdexcept>
#include <vector>

#include "base/check.hpp"
#include "comm/comm.hpp"
#include "kernels/exec.hpp"
#include "runtime/bind.hpp"

namespace spillway {
namespace {

// Returns the address by which kernels on the item's lane reach the bytes of a buffer.
std::byte* address(EngineParts const& parts, Item const& item, Buffer const& buffer, int parity) {
  if (item.lane == Lane::host) return host_bytes(parts.tiers, buffer, parity).data();
  auto const bytes = memory_bytes(parts.tiers, buffer, parity);
  return static_cast<std::byte*>(on_device(parts.tiers.device, bytes).operand());
}

// Returns pointers to the first elements of an op's views and to its workspace, as kernels expect.
std::vector<void*> view_pointers(EngineParts const& parts, Item const& item, Op const& op,
                                 int parity) {
  std::vector<View const*> views;
  for (auto const& view : op.inputs) views.push_back(&view);
  for (auto const& view : op.outputs) views.push_back(&view);
  check(item.operands.size() == views.size() + (op.workspace_bytes > 0 ? 1 : 0), op.name,
        "its item has another number of operands");
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < item.operands.size(); ++i) {
    if (item.operands[i] == kAbsent) {
      pointers.push_back(nullptr);
      continue;
    }
    auto const& buffer = operand(parts.program, item, i);
    auto* first = address(parts, item, buffer, parity);
    if (i < views.size()) {
      auto const& tensor = parts.program.tensors[views[i]->tensor];
      first += views[i]->offset * size_bytes(tensor.dtype);
    }
    pointers.push_back(first);
  }
  if (op.workspace_bytes == 0) pointers.push_back(nullptr);
  return pointers;
}

// Binds the op, and adds its name to the error of a kernel that refuses it, since kernels do not
// name ops.
Launch bind_kernel(Kernel const& kernel, bool on_host, KernelContext const& context, Op const& op) {
  try {
    return (on_host ? kernel.serial : kernel.bind)(context, op);
  } catch (std::logic_error const& mistake) {
    throw std::logic_error(op.name + ": " + mistake.what());
  }
}

}  // namespace

Action bind_op(EngineParts const& parts, BindTo const& to, Item const& item) {
  auto const& program = parts.program;
  auto const& op = program.ops[static_cast<std::size_t>(item.op)];
  KernelContext const context{program.tensors, program.chunks, program.arithmetic,
                              parts.comm.rank()};
  bool const on_host = item.lane == Lane::host;
  auto const kernel = (on_host ? parts.kernels.host : parts.kernels.device.of)(op.kind);
  return
      [launch = bind_kernel(kernel, on_host, context, op), &exec = to.exec,
       pointers = std::array{view_pointers(parts, item, op, 0), view_pointers(parts, item, op, 1)},
       fences = !on_host && to.stream == nullptr](ItemContext const& now) {
        launch(exec, pointers[static_cast<std::size_t>(now.parity)].data());
        if (fences) exec.fence();  // the item counts as complete when this returns
      };
}

}  // namespace spillway
