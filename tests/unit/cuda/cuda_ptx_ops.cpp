// Kernels that an op launches may touch the op's operands only, each as the op says.
#include "graph/graph.hpp"
#include "tests/support/cuda/kernel.hpp"
#include "tests/support/cuda/order.hpp"
#include "tests/unit/cuda/ptx_case.hpp"

namespace spillway::test::cuda::cuda_ptx_ops_test {
namespace {

// A stream, which the kernels under test are launched on.
struct StreamExec final : Exec {
  explicit StreamExec(void* handle) : stream(static_cast<cudaStream_t>(handle)) {}
  cudaStream_t stream;
};

// What the kernel of op `activation` does, which a test chooses.
std::function<void(cudaStream_t, float* x, float* y)> g_launches;

Launch bind(KernelContext const&, Op const&) {
  return [](Exec const& exec, void* const* operands) {
    g_launches(dynamic_cast<StreamExec const&>(exec).stream, static_cast<float*>(operands[0]),
               static_cast<float*>(operands[1]));
  };
}
Kernel own_kernel(OpKind kind) {
  return {.bind = kind == OpKind::activation ? bind : nullptr, .serial = nullptr};
}
std::unique_ptr<Exec const> own_exec(void* stream) {
  return std::make_unique<StreamExec>(stream);
}

class CudaPtxOps : public CudaPtx {
 protected:
  CudaPtxOps() {
    for (auto* const tensor : {&tensors[0], &tensors[1]}) {
      tensor->id = static_cast<TensorId>(tensor - tensors.data());
      tensor->shape = {n};
    }
    op.kind = OpKind::activation;
    op.name = "gelu";
    op.attributes = ActivationAttributes{};
    op.inputs = {whole(tensors[0])};
    op.outputs = {whole(tensors[1])};
    set(x(), all(1));
    wait_for(stream);
  }
  // Launches the op, whose kernel does this.
  void run(std::function<void(cudaStream_t, float*, float*)> launches) {
    g_launches = std::move(launches);
    auto const table = cuda_checked_kernels({own_kernel, own_exec});
    auto const launch = table.of(op.kind).bind({tensors, {}, arithmetic, 0}, op);
    void* const operands[] = {x(), y()};
    launch(*table.exec(stream), operands);
  }

  std::vector<Tensor> tensors{2};
  Arithmetic arithmetic;
  Op op;
};

TEST_F(CudaPtxOps, may_launch_several_kernels_and_copies) {
  run([&](cudaStream_t on, float* from, float* to) {
    EXPECT_EQ(add(to, from, 2, n, on), cudaSuccess);
    EXPECT_EQ(add(to, to, 0.5f, n, on), cudaSuccess);
    fill(to, 0, 4, on);
  });
  auto expected = all(3.5f);
  expected[0] = 0;
  EXPECT_EQ(get(y()), expected);
  EXPECT_EQ(cuda_checked_kernels({own_kernel, own_exec}).of(OpKind::add).bind, nullptr);
  expect_no_complaints();
}

TEST_F(CudaPtxOps, may_not_touch_what_is_not_theirs) {
  struct Case {
    std::function<void(cudaStream_t, float*, float*)> launches;
    char const* complaint;
  };
  fill(y(), 0, kGranule / 2, stream);
  Case const cases[] = {
      {[&](auto on, float* from, float* to) { add(to, from + 1, 2, n, on); },
       "byte 308 of 'operand f'"},
      {[&](auto on, float* from, float* to) { add(to + 1, from, 2, n, on); },
       "byte 308 of 'operand g'"},
      {[&](auto on, float* from, float*) { add(from, from, 2, n, on); }, "the launch may not"},
      {[&](auto on, float* from, float*) { add(from + 2 * n, from, 2, n, on); }, "no memory holds"},
  };
  for (auto const& [launches, complaint] : cases) {
    SCOPED_TRACE(complaint);
    reset({.laziness = Laziness::latest});
    set(x(), all(1));
    run(launches);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
    EXPECT_TRUE(complained(complaint));
    EXPECT_TRUE(complained("gelu: "));
    EXPECT_EQ(complaints().size(), 1u);
  }
  reset();
  run([&](auto on, float* from, float*) { fill(from, 0, 4, on); });
  EXPECT_TRUE(complained("'fill' of op gelu writes bytes that are not the op's"));
  wait_for(stream);
}

TEST_F(CudaPtxOps, may_touch_what_cuda_malloc_has_given) {
  void *given = nullptr, *other = nullptr;
  cudaMalloc(&given, kBytes);
  cudaMalloc(&other, kBytes);
  auto* const scratch = static_cast<float*>(given);
  auto const through_scratch = [&](cudaStream_t on, float* from, float* to) {
    add(scratch, from, 2, n, on);
    add(to, scratch, 2, n, on);
  };
  run(through_scratch);
  EXPECT_EQ(get(y()), all(5));
  expect_no_complaints();
  cudaFree(given);
  cudaFree(other);
}

// Kokkos copies to variables of a kernel before its first launch, on the default stream, which does
// not wait for the op's stream.
TEST_F(CudaPtxOps, copy_to_variables_aside_of_their_stream) {
  auto const* const factor = module.variable("factor", 4);
  set(y(), all(7));
  wait_for(stream);
  PinnedPages const host(4096);
  copy(host.at(), y(), kBytes, stream);
  auto const marks = mark_pieces("item 3");
  run([&](cudaStream_t on, float* from, float* to) {
    float const value = 2;
    EXPECT_EQ(cudaMemcpyToSymbol(factor, &value, 4), cudaSuccess);
    add(to, from, 2, n, on);
  });
  mark_no_more_pieces();
  wait_for(stream);
  EXPECT_EQ(reinterpret_cast<float*>(host.at())[n - 1], 7);
  EXPECT_EQ(get(y()), all(3));
  auto const before = mark_pieces("behind");
  fill(y(), 0, 4, stream);
  mark_no_more_pieces();
  EXPECT_EQ(marks->begin.component, before->begin.component);
  expect_no_complaints();
}

TEST_F(CudaPtxOps, fail_like_those_of_the_host) {
  plan_fault({.call = "launch", .n = 0, .error = cudaErrorLaunchFailure});
  plan_fault({.call = "launch", .n = 1, .kind = PlannedFault::Kind::stuck});
  run([&](cudaStream_t, float*, float*) { ADD_FAILURE() << "is launched"; });
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  run([&](cudaStream_t on, float* from, float* to) { add(to, from, 2, n, on); });
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchTimeout);
  EXPECT_TRUE(complained("deadlock"));
  reset();
}

TEST_F(CudaPtxOps, may_touch_of_what_has_operands_only_these) {
  for (unsigned const beyond : {0u, 1u}) {
    void* given = nullptr;
    cudaMalloc(&given, 2 * kBytes);
    auto* const memory = static_cast<float*>(given);
    set(memory, std::vector<float>(2 * n, 1));
    g_launches = [&](cudaStream_t on, float* from, float* to) { add(to, from, 2, n + beyond, on); };
    auto const table = cuda_checked_kernels({own_kernel, own_exec});
    void* const operands[] = {memory, y()};
    table.of(op.kind).bind({tensors, {}, arithmetic, 0}, op)(*table.exec(stream), operands);
    cudaStreamSynchronize(stream);
    EXPECT_EQ(complained("byte 308 of 'operand f'"), beyond > 0);
    EXPECT_EQ(complaints().size(), beyond);
    EXPECT_EQ(cudaFree(given), beyond > 0 ? cudaErrorLaunchFailure : cudaSuccess);
  }
}

TEST_F(CudaPtxOps, find_nothing_known_in_their_outputs) {
  set(y(), all(1));
  run([&](cudaStream_t on, float*, float* to) { add(to, to, 2, n, on); });
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_TRUE(complained("never written"));
  reset({.laziness = Laziness::latest});
  set(x(), all(1));
  set(y(), all(1));
  run([&](cudaStream_t on, float* from, float* to) { add(to, from, 2, n - 1, on); });
  wait_for(stream);
  add(x(), y(), 1, n - 1);
  wait_for(stream);
  expect_no_complaints();
  add(x(), y(), 1, n);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
}

TEST_F(CudaPtxOps, are_where_their_item_says) {
  AddressRange const expected[] = {range_of(x(), kBytes), range_of(y() + 1, kBytes)};
  expect_ranges(expected);
  run([&](cudaStream_t, float*, float*) { ADD_FAILURE() << "is launched"; });
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_TRUE(complained("gelu: the launch is not where its item says"));
}

// Whatever the seed, two streams meet in the output of the op and nothing orders them.
TEST_F(CudaPtxOps, race_with_work_that_nothing_orders) {
  TestStream const other;
  TestEvent const event;
  for (bool const waits : {true, false}) {
    reset({.laziness = Laziness::latest});
    set(x(), all(1));
    run([&](cudaStream_t on, float* from, float* to) { add(to, from, 2, n, on); });
    cudaEventRecord(event, stream);
    if (waits) cudaStreamWaitEvent(other, event, 0);
    fill(y(), 0, kBytes, other);
    wait_for(other);
    wait_for(stream);
    EXPECT_EQ(complained("nothing orders 'gelu', which writes, and 'fill'"), !waits);
  }
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_ptx_ops_test
