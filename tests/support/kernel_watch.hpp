// Sees every Kokkos kernel that is launched while it lives, through Kokkos' tool callbacks.
// One at a time.
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
  // The first kernel that ran on another instance than the expected one, or whose label does not
  // begin with "spillway::"; empty: none. A deep copy or a reduction without a label counts as
  // well.
  std::string stray() const;
};

}  // namespace spillway::test
