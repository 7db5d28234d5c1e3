#include "tests/support/sequential_run.hpp"

#include <algorithm>
#include <cassert>

#include "graph/build.hpp"
#include "kernels/host/workspaces.hpp"
#include "tests/support/element_bytes.hpp"
#include "tests/support/quantized_bytes.hpp"

namespace spillway::test {
namespace {

// Bytes of 0xFF are a NaN in every floating type.
constexpr unsigned char kNothingWritten = 0xFF;

Kokkos::View<std::byte*, Kokkos::SharedSpace> filled(std::int64_t bytes, unsigned char value) {
  Kokkos::View<std::byte*, Kokkos::SharedSpace> memory("sequential_run",
                                                       static_cast<std::size_t>(bytes));
  std::memset(memory.data(), value, memory.size());
  return memory;
}

}  // namespace

SequentialRun::SequentialRun(Graph graph, Side side)
    : m_graph(std::move(graph)), m_device(side == Side::kernel ? kernel_device() : nullptr) {
  if (m_device != nullptr) set_kernels_of_device();
  for (auto const& tensor : m_graph.tensors) {
    m_memory.push_back(filled(tensor.bytes(), tensor.role == Role::moment ? 0 : kNothingWritten));
  }
  size_workspaces(m_graph, [](Graph const& g, Op const& op) {
    return workspace_bytes({g.tensors, g.chunks, g.arithmetic}, op);
  });
  for (auto& op : m_graph.ops) {
    set_in_place(op, m_graph.known.loss, false);  // the step has one micro-batch
    bind(op, side);
  }
}

void SequentialRun::set_kernels_of_device() {
  auto& arithmetic = m_graph.arithmetic;
  arithmetic.isa = m_device->target();
  KernelContext const context{m_graph.tensors, m_graph.chunks, arithmetic};
  arithmetic.products =
      m_device->kernels().choose_products(context, m_graph.ops, m_device->name(), {});
}

void SequentialRun::bind(Op const& op, Side side) {
  KernelContext const context{m_graph.tensors, m_graph.chunks, m_graph.arithmetic};
  auto const offered =
      m_device != nullptr ? m_device->kernels().of(op.kind) : host::kernel(op.kind);
  m_launches.push_back((side == Side::serial ? offered.serial : offered.bind)(context, op));
  m_workspaces.push_back(filled(op.workspace_bytes, kNothingWritten));
  auto& operands = m_operands.emplace_back();
  for (auto const* views : {&op.inputs, &op.outputs})
    for (auto const& view : *views)
      operands.push_back(is_present(view) ? element(view, 0) : nullptr);
  operands.push_back(m_workspaces.back().data());
}

void SequentialRun::run(Phase phase) {
  run_if([phase](Op const& op) { return op.phase == phase; });
}

void SequentialRun::run(OpKind kind) {
  run_if([kind](Op const& op) { return op.kind == kind; });
}

void SequentialRun::run_if(std::function<bool(Op const&)> const& chosen) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < m_graph.ops.size(); ++i)
    if (!m_graph.ops[i].elided && chosen(m_graph.ops[i])) numbers.push_back(i);
  if (m_device != nullptr) return run_on_device(numbers);
  for (auto const i : numbers) m_launches[i](*m_exec, m_operands[i].data());
  m_exec->fence();
}

// All of these ops have one workspace, as large as the largest needs.
void SequentialRun::run_on_device(std::vector<std::size_t> const& numbers) {
  std::vector<DeviceCopies::Bytes> contents;
  for (auto const& bytes : m_memory)
    contents.emplace_back(bytes.data(), bytes.data() + bytes.size());
  std::int64_t workspace_bytes = 0;
  for (auto const i : numbers)
    workspace_bytes = std::max(workspace_bytes, m_graph.ops[i].workspace_bytes);
  DeviceCopies const copies(*m_device, contents, workspace_bytes);
  m_device->run([&](Exec const& exec) {
    for (auto const i : numbers) m_launches[i](exec, operands_in(copies, m_graph.ops[i]).data());
  });
  auto const results = copies.read();
  for (std::size_t i = 0; i < results.size(); ++i)
    std::ranges::copy(results[i], m_memory[i].data());
}

std::vector<void*> SequentialRun::operands_in(DeviceCopies const& copies, Op const& op) const {
  std::vector<void*> operands;
  for (auto const* views : {&op.inputs, &op.outputs})
    for (auto const& view : *views)
      operands.push_back(is_present(view)
                             ? copies.at(static_cast<std::size_t>(view.tensor), first_byte(view))
                             : nullptr);
  operands.push_back(op.workspace_bytes > 0 ? copies.at(m_memory.size(), 0) : nullptr);
  return operands;
}

std::int64_t SequentialRun::first_byte(View const& view) const {
  return view.offset * size_bytes(m_graph.tensor(view).dtype);
}

std::byte* SequentialRun::element(View const& view, std::int64_t i) {
  auto const position = (view.offset + i) * size_bytes(m_graph.tensor(view).dtype);
  return m_memory[static_cast<std::size_t>(view.tensor)].data() + position;
}

std::vector<double> SequentialRun::values(View const& view) {
  assert(is_contiguous(view));
  std::vector<double> result;
  for (std::int64_t i = 0; i < element_count(view.shape); ++i) {
    result.push_back(read(element(view, i), m_graph.tensor(view).dtype));
  }
  return result;
}

void SequentialRun::set(View const& view, std::span<double const> values) {
  assert(is_contiguous(view) && element_count(view.shape) == std::ssize(values));
  auto const& tensor = m_graph.tensor(view);
  auto const remainder =
      tensor.chunk < 0 ? -1
                       : m_graph.chunks[static_cast<std::size_t>(tensor.chunk)].state("remainder");
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    auto const value = values[static_cast<std::size_t>(i)];
    if (tensor.role == Role::parameter && remainder >= 0) {
      auto const [parameter, rest] = split_master(static_cast<float>(value));
      store_bytes(element(view, i), parameter);
      data<std::int16_t>(remainder)[static_cast<std::size_t>(view.offset + i)] = rest;
    } else {
      write(element(view, i), tensor.dtype, value);
    }
  }
}

void SequentialRun::set(Parameter const& parameter, std::span<double const> values) {
  if (!parameter.is_quantized()) return set(parameter.view, values);
  auto const bytes = bytes_of(parameter.quantized, {values.begin(), values.end()});
  set(parameter.view, numbers_of(bytes));
}

}  // namespace spillway::test
