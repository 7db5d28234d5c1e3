// A BusyCompute keeps the compute lane busy, on its cores or its device, while something on the
// host lane is measured.
#pragma once

#include <chrono>
#include <future>

#include "base/cannot_start.hpp"
#include "profile/lone_op.hpp"

namespace spillway {

// A BusyCompute computes matrix products in the run's precision.
class BusyCompute {
 public:
  BusyCompute(Compute const& compute, Arithmetic const& arithmetic)
      : m_product(OpKind::matmul, stored_dtype(arithmetic.precision), {kRows, kRows}, arithmetic,
                  compute) {}

  // Runs measure() on a new thread, computes until it has ended, and returns its result.
  template <class Measure>
  auto beside(Measure const& measure) const {
    auto result = start_threads([&] { return std::async(std::launch::async, measure); });
    while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) m_product();
    return result.get();
  }

 private:
  static constexpr std::int64_t kRows = 1024;

  LoneOp m_product;
};

}  // namespace spillway
