// Runs one op by its kernel and by its serial reference on equal operands and compares the results.
//
//   KernelHarness h;
//   View const a = h.tensor(DType::bf16, {37, 83}), c = h.tensor(DType::f32, {37, 1});
//   h.fill_normal(a, 1.0);
//   h.op(OpKind::activation, {a}, {c});
//   h.run(host::kernel(OpKind::activation));
//   h.expect_close(c, 1e-6, 1e-3);   // or h.expect_same_bytes(c)
//
// `run` fails the test if a byte outside the outputs changed: inputs, elements between the rows of
// a strided output, guard zones around every tensor and around the workspace. What must be
// overwritten should be poisoned first: every tensor starts as NaN patterns.
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

class KernelHarness {
 public:
  explicit KernelHarness(std::uint64_t seed = 1) : m_seed(seed) {}

  // Adds a contiguous tensor; windows on it (columns, transposed) may be used as operands.
  View tensor(DType dtype, Shape shape);
  // Adds chunk 0: parameters of these sizes one after the other on aligned offsets.
  Chunk& chunk(std::vector<std::int64_t> const& sizes);
  void op(OpKind kind, std::vector<View> inputs, std::vector<View> outputs,
          Attributes attributes = {}, std::vector<int> in_place = {});

  // Contents before a run; element numbers count within the view, row by row.
  void fill_normal(View const& view, double deviation, double mean = 0);
  void fill_integers(View const& view, std::int64_t first, std::int64_t last);  // first <= x < last
  void set(View const& view, std::int64_t element, double value);
  void set_all(View const& view, std::vector<double> const& values);
  void fill_random_bits(View const& view);

  // Runs both sides from the present contents. `threads` = 0: all; other counts are a smaller
  // instance where the backend knows such. The execution space is never the default instance.
  void run(Kernel const& kernel, int threads = 0);
  // Runs the kernel on this Exec, which its table has made.
  void run(Kernel const& kernel, Exec const& exec);
  // The threads that share the reference from now on, as those of the host lane do.
  void share_reference(HostPool& pool) { m_pool = &pool; }
  // Called with true before and with false after every launch, of the kernel and of the reference.
  void on_launch(std::function<void(bool begins)> f) { m_launching = std::move(f); }
  // After `run`: makes the kernel's results the contents of the next run (training steps in tests).
  void keep_results();

  // The kernel's results of the last run; the serial reference's; the contents before the run.
  double result(View const& view, std::int64_t element) const {
    return value(m_kernel, view, element);
  }
  std::vector<double> results(View const& view) const { return values(m_kernel, view); }
  std::vector<double> serial_results(View const& view) const { return values(m_serial, view); }
  std::vector<double> contents(View const& view) const { return values(m_contents, view); }
  std::vector<std::byte> const& result_bytes(View const& view) const {  // of the whole tensor
    return m_kernel[static_cast<std::size_t>(view.tensor)];
  }

  // |kernel - serial| <= absolute + relative * |serial|, NaN equal to NaN; every element written.
  void expect_close(View const& view, double absolute, double relative) const;
  void expect_same_bytes(View const& view) const;

  Op& op() { return m_op; }
  Graph& graph() { return m_graph; }
  KernelContext context() const {
    return {m_graph.tensors, m_graph.chunks, m_graph.arithmetic, m_rank};
  }
  void run_as(int rank) { m_rank = rank; }  // 0 unless told

 private:
  using Bytes = std::vector<std::byte>;
  using Contents = std::vector<Bytes>;  // of every tensor
  Contents run_one(Launch const& launch, Exec const& exec) const;
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
  Contents m_contents;          // before a run
  Contents m_kernel, m_serial;  // after it
};

// An instance of `threads` threads (0: all) that is not the default one.
std::unique_ptr<Exec const> other_instance(int threads = 0);

}  // namespace spillway::test
