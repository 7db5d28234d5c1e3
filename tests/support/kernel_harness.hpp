// Runs one op by its kernel and by its serial reference on equal operands and compares the results.
//
//   KernelHarness h;
//   View const a = h.tensor(DType::bf16, {37, 83}), c = h.tensor(DType::f32, {37, 1});
//   h.fill_normal(a, 1.0);
//   h.op(OpKind::activation, {a}, {c});
//   h.run(host::kernel(OpKind::activation));
//   h.expect_close(c, 1e-6, 1e-3);   // or h.expect_same_bytes(c)
//
// `run` fails the test if a byte outside the outputs has changed: in inputs, between the rows of a
// strided output, or in the guard zones around every tensor and the workspace. Every tensor starts
// as NaN patterns, so that expect_close notices elements that were not written.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/host/kernels.hpp"
#include "kernels/kernel.hpp"
#include "tests/support/kokkos_environment.hpp"

namespace spillway::test {

class KernelDevice;

class KernelHarness {
 public:
  explicit KernelHarness(std::uint64_t seed = 1) : m_seed(seed) {}

  // Adds a contiguous tensor. Operands may also be views of it, for example columns or a transpose.
  View tensor(DType dtype, Shape shape);
  // Adds chunk 0, whose parameters have these numbers of elements. Each parameter begins at the
  // next aligned offset.
  Chunk& chunk(std::vector<std::int64_t> const& sizes,
               std::int64_t alignment = kParameterAlignment);
  void op(OpKind kind, std::vector<View> inputs, std::vector<View> outputs,
          Attributes attributes = {}, std::vector<int> in_place = {});

  // The following functions set what operands contain when the next run begins. Elements are
  // numbered within the view, row by row.
  void fill_normal(View const& view, double deviation, double mean = 0);
  // Draws integers x with first <= x < last.
  void fill_integers(View const& view, std::int64_t first, std::int64_t last);
  void set(View const& view, std::int64_t element, double value);
  void set_all(View const& view, std::vector<double> const& values);
  void fill_random_bits(View const& view);

  // Runs the kernel and the serial reference on the present contents. The kernel runs with
  // `threads` threads if the backend can limit them, or with all threads if `threads` is 0, and
  // never on the default instance of the execution space. If there is a KernelDevice
  // (kernel_device.hpp), that device's kernel for the op runs instead.
  void run(Kernel const& kernel, int threads = 0);
  // Runs the kernel on this Exec, which must come from the KernelTable that has the kernel, and the
  // serial reference.
  void run(Kernel const& kernel, Exec const& exec);
  // From now on the threads of `pool` share the work of the serial reference, as the host lane's
  // threads do in a training run.
  void share_reference(HostPool& pool) { m_pool = &pool; }
  // Calls f(true) before every launch of the kernel and of the reference, and f(false) after it.
  void on_launch(std::function<void(bool begins)> f) { m_launching = std::move(f); }
  // Makes the kernel's results of the last run the contents of the next one.
  void keep_results();

  // result() and results() return what the kernel wrote in the last run, serial_results() what the
  // serial reference wrote. contents() returns what the operands contain before a run.
  double result(View const& view, std::int64_t element) const {
    return value(m_kernel, view, element);
  }
  std::vector<double> results(View const& view) const { return values(m_kernel, view); }
  std::vector<double> serial_results(View const& view) const { return values(m_serial, view); }
  std::vector<double> contents(View const& view) const { return values(m_contents, view); }
  // Returns the bytes of the view's whole tensor after the kernel's last run.
  std::vector<std::byte> const& result_bytes(View const& view) const {
    return m_kernel[static_cast<std::size_t>(view.tensor)];
  }

  // Expects |kernel - serial| <= absolute + relative * |serial| for every element, where NaN equals
  // NaN, and that every element was written.
  void expect_close(View const& view, double absolute, double relative) const;
  void expect_same_bytes(View const& view) const;

  Op& op() { return m_op; }
  Graph& graph() { return m_graph; }
  KernelContext context() const {
    return {m_graph.tensors, m_graph.chunks, m_graph.arithmetic, m_rank};
  }
  void run_as(int rank) { m_rank = rank; }  // kernels run as rank 0 unless this is called

 private:
  using Bytes = std::vector<std::byte>;
  using Contents = std::vector<Bytes>;  // the bytes of each tensor
  Contents guarded_contents() const;
  Contents without_guards(Contents contents) const;
  template <class Copies>
  std::vector<void*> pointers(Copies const& copies, void* workspace) const;
  Contents run_one(Launch const& launch, Exec const& exec) const;
  Contents run_on(KernelDevice const& device);
  void run_reference(Kernel const& kernel);
  double value(Contents const& contents, View const& view, std::int64_t element) const;
  std::vector<double> values(Contents const& contents, View const& view) const;
  bool has_poison(View const& view) const;
  void expect_untouched(Contents const& after, std::string const& who) const;

  std::uint64_t m_seed;
  std::uint64_t m_fills = 0;
  Graph m_graph;  // holds the tensors and chunks; its list of ops stays empty
  Op m_op;
  int m_rank = 0;
  HostPool* m_pool = nullptr;
  std::function<void(bool)> m_launching;
  Contents m_contents;          // the operands before a run
  Contents m_kernel, m_serial;  // the operands after the kernel, and after the reference
};

// Makes an instance of the execution space that is not the default one. It has `threads` threads,
// or all of them if `threads` is 0 or if the backend cannot limit them.
std::unique_ptr<Exec const> other_instance(int threads = 0);

}  // namespace spillway::test
