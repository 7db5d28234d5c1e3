// A KernelWatch sees every Kokkos kernel that is launched while it lives, through Kokkos' tool
// callbacks. Only one may exist at a time.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/portable/space.hpp"

namespace spillway::test {

class KernelWatch {
 public:
  explicit KernelWatch(Exec const& expected);
  KernelWatch(KernelWatch const&) = delete;
  KernelWatch& operator=(KernelWatch const&) = delete;
  ~KernelWatch();

  int launches() const;
  // Returns the label of the first kernel that ran on another instance than the expected one, or
  // whose label does not begin with "spillway::". Deep copies and reductions without a label are
  // such kernels. Returns "" if there was none.
  std::string stray() const;
};

}  // namespace spillway::test
