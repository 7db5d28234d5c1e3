// Runs the kernel of a KernelHarness, and its serial reference, on guarded copies of the operands.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "kernels/host/workspaces.hpp"
#include "kernels/portable/space.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/host_copies.hpp"
#include "tests/support/kernel_device.hpp"
#include "tests/support/kernel_harness.hpp"
#include "tests/support/kernel_watch.hpp"
#include "tests/support/view_positions.hpp"

namespace spillway::test {

std::unique_ptr<Exec const> other_instance([[maybe_unused]] int threads) {
  using host::Space, host::SpaceExec;
  if constexpr (std::is_constructible_v<Space, int>)
    return std::make_unique<SpaceExec>(Space(threads > 0 ? threads : Space{}.concurrency()));
  else
    return std::make_unique<SpaceExec>(Kokkos::Experimental::partition_space(Space{}, 1)[0]);
}

// Puts guards around every tensor.
KernelHarness::Contents KernelHarness::guarded_contents() const {
  Contents contents;
  for (auto const& bytes : m_contents) contents.push_back(guarded(bytes));
  return contents;
}

KernelHarness::Contents KernelHarness::without_guards(Contents contents) const {
  for (auto const& tensor : m_graph.tensors) {
    auto& bytes = contents[index(tensor.id)];
    bytes = unguarded(bytes, tensor.name);
  }
  return contents;
}

template <class Copies>
std::vector<void*> KernelHarness::pointers(Copies const& copies, void* workspace) const {
  std::vector<void*> operands;
  auto const add = [&](View const& view) {
    if (!is_present(view)) return operands.push_back(nullptr);
    auto const first = view.offset * size_bytes(m_graph.tensor(view).dtype);
    operands.push_back(copies.at(index(view.tensor), kGuardBytes + first));
  };
  for (auto const& view : m_op.inputs) add(view);
  for (auto const& view : m_op.outputs) add(view);
  operands.push_back(m_op.workspace_bytes > 0 ? workspace : nullptr);
  return operands;
}

KernelHarness::Contents KernelHarness::run_one(Launch const& launch, Exec const& exec) const {
  HostCopies const copies(guarded_contents());
  HostCopies const workspace({guarded(Bytes(index(m_op.workspace_bytes), kPoison))});
  auto const operands = pointers(copies, workspace.at(0, kGuardBytes));
  if (m_launching) m_launching(true);
  launch(exec, operands.data());
  if (m_launching) m_launching(false);
  exec.fence();
  unguarded(workspace.read()[0], "the workspace");
  return without_guards(copies.read());
}

// The device's table has another kernel for the op. The workspace, which may be large, has no
// guards of its own: before it lies that of the last tensor.
KernelHarness::Contents KernelHarness::run_on(KernelDevice const& device) {
  auto const& table = device.kernels();
  m_graph.arithmetic.isa = device.target();
  if (table.choose_products != nullptr)
    m_graph.arithmetic.products =
        table.choose_products(this->context(), {&m_op, 1}, device.name(), {});
  auto const context = this->context();
  m_op.workspace_bytes = workspace_bytes(context, m_op);
  auto const launch = table.of(m_op.kind).bind(context, m_op);
  DeviceCopies const copies(device, guarded_contents(), m_op.workspace_bytes);
  auto const operands = pointers(copies, copies.at(m_contents.size(), 0));
  device.run([&](Exec const& exec) { launch(exec, operands.data()); });
  return without_guards(copies.read());
}

void KernelHarness::run(Kernel const& kernel, int threads) {
  auto const* const device = kernel_device();
  if (device == nullptr) return run(kernel, *other_instance(threads));
  m_kernel = run_on(*device);
  run_reference(kernel);
}

void KernelHarness::run(Kernel const& kernel, Exec const& exec) {
  auto const context = this->context();
  m_op.workspace_bytes = kernel.workspace_bytes ? kernel.workspace_bytes(context, m_op) : 0;
  std::optional<KernelWatch> watch;
  // A KernelWatch makes Kokkos allocate. So there is none if the test observes launches, because it
  // may count allocations.
  if (!m_launching && dynamic_cast<host::SpaceExec const*>(&exec) != nullptr) watch.emplace(exec);
  m_kernel = run_one(kernel.bind(context, m_op), exec);
  if (watch) {
    EXPECT_EQ(watch->stray(), "") << "runs elsewhere than on the given instance, or has no label";
    watch.reset();
  }
  run_reference(kernel);
}

void KernelHarness::run_reference(Kernel const& kernel) {
  auto const context = this->context();
  Exec const alone;
  m_serial = m_pool ? run_one(kernel.serial(context, m_op), Exec(*m_pool))
                    : run_one(kernel.serial(context, m_op), alone);
  expect_untouched(m_kernel, "the kernel");
  expect_untouched(m_serial, "the serial reference");
}

}  // namespace spillway::test
