// Keeps the compute lane's cores busy while something on the host lane is measured.
#pragma once

#include <chrono>
#include <cstddef>
#include <future>

#include "base/pages.hpp"
#include "profile/lone_op.hpp"

namespace spillway {

// Computes matrix products on all threads of `exec`.
class BusyCompute {
 public:
  BusyCompute(Exec const& exec, Arithmetic const& arithmetic)
      : m_memory(kBytes),
        m_product(OpKind::matmul, arithmetic.precision == "bf16" ? DType::bf16 : DType::f32,
                  {kRows, kRows}, arithmetic, exec, m_memory.data()) {}

  // Runs measure() on a new thread, computes until it has ended, and returns its result.
  template <class Measure>
  auto beside(Measure const& measure) const {
    auto result = std::async(std::launch::async, measure);
    while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) m_product();
    return result.get();
  }

 private:
  static constexpr std::int64_t kRows = 1024;
  static constexpr std::size_t kBytes = 3 * kRows * kRows * sizeof(float);

  Pages m_memory;
  LoneOp m_product;
};

}  // namespace spillway
