// Kernels of the stand-in run when the device comes to them, on operands that it can reach.
#include "kernels/host/kernels.hpp"
#include "runtime/locked_allocator.hpp"
#include "tests/support/cuda/kernel.hpp"
#include "tests/support/cuda/operands.hpp"
#include "tests/support/cuda/order.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/unit/cuda/cuda_case.hpp"

namespace spillway::test::cuda::cuda_stand_in_kernels_test {
namespace {

// One op on tensors of fp32 that lie one after the other, on a granule of the device.
class CudaStandInKernels : public CudaStandIn {
 protected:
  View tensor(Shape shape) {
    Tensor result;
    result.id = static_cast<TensorId>(tensors.size());
    result.shape = std::move(shape);
    tensors.push_back(result);
    return whole(result);
  }
  Op op(OpKind kind, std::vector<View> inputs, std::vector<View> outputs) const {
    Op result;
    result.kind = kind;
    result.name = name(kind);
    result.inputs = std::move(inputs);
    result.outputs = std::move(outputs);
    if (kind == OpKind::activation) result.attributes = ActivationAttributes{};
    auto const bytes = host::kernel(kind).workspace_bytes;
    result.workspace_bytes = bytes ? bytes(context(), result) : 0;
    return result;
  }
  KernelContext context() const { return {tensors, {}, arithmetic, rank}; }
  Launch bind(Op const& op) const { return cuda_stand_in_kernel(op.kind).bind(context(), op); }

  // Sets fp32 elements by a copy, which is done when this returns.
  void set(std::size_t at, std::vector<float> const& values) const {
    copy(device.at(at), values.data(), values.size() * sizeof(float), stream);
  }
  std::vector<float> get(std::size_t at, std::size_t n) const {
    std::vector<float> result(n);
    copy(result.data(), device.at(at), n * sizeof(float), stream);
    return result;
  }

  std::vector<Tensor> tensors;
  Arithmetic arithmetic;
  int rank = 0;
  DeviceGranule device;
  TestStream stream;
  std::unique_ptr<Exec const> own = cuda_stand_in_exec(stream);
  Exec const& exec = *own;
};

TEST_F(CudaStandInKernels, run_in_their_stream_on_the_devices_memory) {
  auto const x = tensor({4, 8}), y = tensor({4, 8}), z = tensor({4, 8});
  auto const add = bind(op(OpKind::add, {x, y}, {z}));
  set(0, std::vector<float>(32, 1.5f));
  set(4096, std::vector<float>(32, 2));
  void* const operands[] = {device.at(), device.at(4096), device.at(8192)};
  add(exec, operands);
  fill(device.at(), 0, 128, stream);
  EXPECT_EQ(get(8192, 32), std::vector<float>(32, 3.5f));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  expect_no_complaints();
}

// A kernel's output is invalid once it has begun, unless it is added to or read as well.
TEST_F(CudaStandInKernels, fresh_outputs_are_invalid_until_the_end) {
  PinnedPages const host(4096);
  auto const x = tensor({8}), y = tensor({8});
  auto const activation = bind(op(OpKind::activation, {x}, {y}));
  auto accumulates = op(OpKind::accumulate, {x}, {y});
  accumulates.in_place = {0};
  auto const accumulate = bind(accumulates);
  TestEvent const event;
  void* const operands[] = {host.at(), host.at(64)};
  std::memset(host.at(64), 0, 32);
  for (auto const& [launch, first] : {std::pair{&accumulate, 0}, {&activation, 0xff}}) {
    (*launch)(exec, operands);
    cudaEventRecord(event, stream);
    EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
    EXPECT_TRUE(all_are(host.part(64, 32), first));
    wait_for(stream);
    EXPECT_TRUE(all_are(host.part(64, 32), 0));
  }
  void* const same[] = {host.at(), host.at()};
  activation(exec, same);
  wait_for(stream);
  EXPECT_TRUE(all_are(host.part(0, 32), 0));
}

TEST_F(CudaStandInKernels, the_gaps_of_a_view_are_not_its_own) {
  auto const matrix = tensor({3, 10}), y = tensor({3, 4});
  auto const found = operands(context(), op(OpKind::add, {y, y}, {columns(matrix, 2, 4)}));
  EXPECT_EQ(found[2].pieces, (std::vector<AddressRange>{{0, 16}, {40, 16}, {80, 16}}));
  EXPECT_EQ(found[2].bytes, 96);
  EXPECT_EQ(found[0].pieces, (std::vector<AddressRange>{{0, 48}}));
  auto const turned = operands(context(), op(OpKind::add, {y, y}, {transposed(y)}));
  EXPECT_EQ(turned[2].pieces, (std::vector<AddressRange>{{0, 48}}));
}

TEST_F(CudaStandInKernels, operands_must_be_reachable) {
  auto const x = tensor({8}), y = tensor({8});
  auto const activation = bind(op(OpKind::activation, {x}, {y}));
  std::vector<float> plain(8);
  auto const refused = [&](void* from, void* to) {
    cudaGetLastError();
    void* const operands[] = {from, to};
    activation(exec, operands);
    return cudaGetLastError() == cudaErrorIllegalAddress;
  };
  EXPECT_FALSE(refused(device.at(), device.at(64)));
  EXPECT_TRUE(refused(plain.data(), device.at()));
  EXPECT_TRUE(refused(device.at(), device.at(kGranule - 31)));
  EXPECT_TRUE(refused(nullptr, device.at()));
  EXPECT_EQ(complaints().size(), 3u);
  void* const operands[] = {device.at(), device.at(64)};
  activation(*cuda_stand_in_exec(nullptr), operands);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_TRUE(complained("activation is launched on no stream"));
}

// Of the gradient only this rank's slice is there, as under a plan with slices.
TEST_F(CudaStandInKernels, a_part_of_a_tensor_is_enough_if_it_is_told_so) {
  constexpr std::size_t n = kNormTile;
  auto const parts = tensor({2, n}), sum = tensor({2 * n});
  rank = 1;
  auto tree_sum = op(OpKind::tree_sum, {parts}, {sum});
  tree_sum.in_place = {0};
  auto const launch = bind(tree_sum);
  auto const end = kGranule - 4 * n;  // the last slice of the granule
  set(0, std::vector<float>(2 * n, 1));
  set(end, std::vector<float>(n, 2));
  auto const first = reinterpret_cast<std::uintptr_t>(device.at(end)) - 4 * n;
  AddressRange const expected[] = {range_of(device.at(), 8 * n), range_of(device.at(end), 4 * n)};
  void* const operands[] = {device.at(), reinterpret_cast<void*>(first)};
  expect_ranges(expected);
  launch(exec, operands);
  EXPECT_EQ(get(end, n), std::vector<float>(n, 3));
  expect_no_complaints();
  void* const shifted[] = {device.at(4), operands[1]};
  expect_ranges(expected);
  launch(exec, shifted);
  EXPECT_TRUE(complained("tree_sum: the launch is not where its item says"));
  reset();
  void* const too_late[] = {device.at(), device.at(end)};
  launch(exec, too_late);
  EXPECT_TRUE(complained("cannot reach all bytes of operand g"));
}

TEST_F(CudaStandInKernels, products_and_their_workspace_give_the_bits_of_the_host) {
  auto const a = tensor({64, 96}), b = tensor({96, 32}), c = tensor({64, 32});
  auto const product = op(OpKind::matmul, {a, b, {}, {}}, {c});
  std::vector<float> left(64 * 96), right(96 * 32), expected(64 * 32);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<float>(i % 17) / 7;
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<float>(i % 23) / 3;
  std::vector<std::byte> scratch(static_cast<std::size_t>(product.workspace_bytes) + 64);
  auto* const aligned = scratch.data() + -reinterpret_cast<std::uintptr_t>(scratch.data()) % 64;
  void* const on_host[] = {left.data(), right.data(), nullptr, nullptr, expected.data(), aligned};
  host::kernel(OpKind::matmul).bind(context(), product)(*host::make_exec(nullptr), on_host);
  std::size_t const at = 1 << 20;
  set(0, left);
  set(at, right);
  void* const there[] = {device.at(), device.at(at),     nullptr,
                         nullptr,     device.at(at / 2), device.at(at + at / 2)};
  bind(product)(exec, there);
  EXPECT_EQ(get(at / 2, expected.size()), expected);
  expect_no_complaints();
}

TEST_F(CudaStandInKernels, kernels_of_two_streams_must_be_ordered) {
  auto const x = tensor({8}), y = tensor({8});
  auto const activation = bind(op(OpKind::activation, {x}, {y}));
  TestStream const other;
  TestEvent const event;
  void* const operands[] = {device.at(), device.at(64)};
  for (bool const waits : {true, false}) {
    activation(exec, operands);
    cudaEventRecord(event, stream);
    if (waits) cudaStreamWaitEvent(other, event, 0);
    activation(*cuda_stand_in_exec(other), operands);
    EXPECT_EQ(complained("nothing orders 'activation', which writes, and 'activation'"), !waits);
    wait_for(other);
    wait_for(stream);
  }
}

// The engine calls while its allocator is locked: what a real runtime takes, it takes by malloc.
TEST_F(CudaStandInKernels, nothing_trips_a_locked_allocator) {
  PinnedPages const host(4096);
  auto const x = tensor({8}), y = tensor({8});
  auto const activation = bind(op(OpKind::activation, {x}, {y}));
  TestStream const other;
  TestEvent const event;
  void* const operands[] = {device.at(), device.at(64)};
  AddressRange const ranges[] = {range_of(device.at(), 32), range_of(device.at(64), 32)};
  AllocatorLock const lock(true);
  for (int i = 0; i < 3; ++i) {
    cudaMemcpyAsync(device.at(), host.at(), 32, cudaMemcpyHostToDevice, stream);
    cudaMemsetAsync(device.at(64), 0, 32, stream);
    expect_ranges(ranges);
    activation(exec, operands);
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(other, event, 0);
    Order::release(&host, 1);
    Order::acquire(&host, 1);
    while (cudaEventQuery(event) == cudaErrorNotReady) {
    }
    host_access(host.part(0, 32), true);
    cudaStreamSynchronize(stream);
  }
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_stand_in_kernels_test
