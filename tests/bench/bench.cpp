#include "tests/bench/bench.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/math.hpp"
#include "kernels/host/workspaces.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kStreamedBytes = std::int64_t{512} << 20;  // beyond the last cache
constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;

}  // namespace

Op make_op(OpKind kind, std::vector<View> inputs, std::vector<View> outputs,
           Attributes attributes) {
  Op op;
  op.kind = kind;
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.attributes = std::move(attributes);
  return op;
}

View Bench::tensor(DType dtype, Shape shape) {
  Tensor tensor;
  tensor.id = static_cast<TensorId>(m_tensors.size());
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  m_tensors.push_back(tensor);
  m_buffers.push_back(zeros(tensor.bytes()));
  return whole(tensor);
}

float* Bench::floats(std::int64_t n) {
  tensor(DType::f32, {n});
  return reinterpret_cast<float*>(m_buffers.back().data());
}

void Bench::fill(View const& view, float scale) {
  auto const& tensor = tensor_of(view);
  auto* const data = m_buffers[static_cast<std::size_t>(view.tensor)].data();
  for (std::int64_t i = 0; i < element_count(tensor.shape); ++i) {
    float const x = scale * (static_cast<float>(i * 7919 % 2003) / 1001.5f - 1);
    if (tensor.dtype == DType::bf16) reinterpret_cast<bf16*>(data)[i] = to_bf16(x);
    if (tensor.dtype == DType::f32) reinterpret_cast<float*>(data)[i] = x;
  }
}

void Bench::fill_tokens(View const& view, std::int64_t vocab) {
  auto* const data = m_buffers[static_cast<std::size_t>(view.tensor)].data();
  for (std::int64_t i = 0; i < element_count(view.shape); ++i)
    reinterpret_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(i * 7919 % vocab);
}

void Bench::fill_control(View const& view) {
  auto* const control =
      reinterpret_cast<double*>(m_buffers[static_cast<std::size_t>(view.tensor)].data());
  control[control_go] = control[control_gradient_scale] = 1;
  control[control_learning_rate] = 1e-4;
  control[control_bias1] = control[control_bias2] = 0.5;
}

// On huge pages, as in the engine's arenas.
Bench::Buffer Bench::zeros(std::int64_t bytes) {
  Buffer const buffer(Kokkos::view_alloc("bench", Kokkos::WithoutInitializing),
                      static_cast<std::size_t>(bytes));
  auto const begin = reinterpret_cast<std::uintptr_t>(buffer.data());
  auto const first = round_up(begin, kHugePage);
  auto const last = (begin + buffer.size()) / kHugePage * kHugePage;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
  std::memset(buffer.data(), 0, buffer.size());
  return buffer;
}

Bench::Buffer Bench::copy(Buffer const& from) {
  auto const to = zeros(static_cast<std::int64_t>(from.size()));
  std::copy_n(from.data(), from.size(), to.data());
  return to;
}

std::vector<void*> Bench::pointers(Op const& op, IdVector<Buffer> const& buffers) const {
  std::vector<void*> result;
  for (auto const* views : {&op.inputs, &op.outputs})
    for (auto const& view : *views) {
      auto* at = is_present(view) ? buffers[static_cast<std::size_t>(view.tensor)].data() : nullptr;
      if (at) at += view.offset * size_bytes(tensor_of(view).dtype);
      result.push_back(at);
    }
  return result;
}

void Bench::measure(benchmark::State& state, Op& op, IdVector<Chunk> const& chunks,
                    std::vector<std::vector<void*>> operands) {
  Arithmetic arithmetic;
  arithmetic.threads = host::make_exec(nullptr)->concurrency();
  KernelContext const context{m_tensors, chunks, arithmetic};
  op.workspace_bytes = workspace_bytes(context, op);
  auto const side = m_host_pool ? host::kernel(op.kind).serial : host::kernel(op.kind).bind;
  auto const launch = side(context, op);
  auto const workspace = zeros(op.workspace_bytes);
  for (auto& pointers : operands) pointers.push_back(workspace.data());

  auto const exec =
      m_host_pool ? std::make_unique<Exec const>(*m_host_pool) : host::make_exec(nullptr);
  for (auto const& pointers : operands) launch(*exec, pointers.data());
  std::size_t turn = 0;
  for (auto _ : state) {
    launch(*exec, operands[turn++ % operands.size()].data());
    exec->fence();
  }
}

void Bench::run(benchmark::State& state, OpKind kind, std::vector<View> inputs,
                std::vector<View> outputs, Attributes attributes, double flops) {
  auto op = make_op(kind, std::move(inputs), std::move(outputs), std::move(attributes));
  measure(state, op, {}, {pointers(op, m_buffers)});
  using benchmark::Counter;
  state.counters["FLOPS"] = Counter(flops, Counter::kIsIterationInvariantRate);
  state.counters["workspace_MB"] = static_cast<double>(op.workspace_bytes) * 1e-6;
}

void Bench::stream(benchmark::State& state, Op op, IdVector<Chunk> chunks, std::int64_t bytes) {
  std::vector<IdVector<Buffer>> copies{m_buffers};
  for (auto left = div_ceil(kStreamedBytes, bytes); left > 1; --left) {
    auto& buffers = copies.emplace_back();
    for (auto const& buffer : m_buffers) buffers.push_back(copy(buffer));
  }
  std::vector<std::vector<void*>> operands;
  for (auto const& buffers : copies) operands.push_back(pointers(op, buffers));
  measure(state, op, chunks, std::move(operands));
  using benchmark::Counter;
  state.counters["GB/s"] =
      Counter(static_cast<double>(bytes) * 1e-9, Counter::kIsIterationInvariantRate);
}

}  // namespace spillway
