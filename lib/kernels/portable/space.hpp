// Names the execution space of Kokkos that a build of this folder is for. Whoever compiles the
// folder defines SPILLWAY_SPACE, the namespace of all that depends on the space, and
// SPILLWAY_KOKKOS_SPACE, the space's type in Kokkos. One program may hold several such builds.
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#include "kernels/exec.hpp"

namespace spillway::SPILLWAY_SPACE {

using Space = SPILLWAY_KOKKOS_SPACE;

// Says whether neighbouring threads take neighbouring elements, as devices want it. Otherwise each
// of the host's threads takes a contiguous range of elements and uses SIMD. If SPILLWAY_LIKE_DEVICE
// is defined, the host's threads work as a device's do.
#ifdef SPILLWAY_LIKE_DEVICE
inline constexpr bool kLikeDevice = true;
#else
inline constexpr bool kLikeDevice = !std::is_same_v<Space::memory_space, Kokkos::HostSpace>;
#endif

class SpaceExec : public Exec {
 public:
  explicit SpaceExec(Space const& instance);

  Space const& instance() const { return m_instance; }
  int concurrency() const override { return m_concurrency; }
  void fence() const override;

 private:
  Space m_instance;
  int m_concurrency;  // stored, because asking Kokkos for it may allocate
};

// Returns the instance that `exec` launches on. Throws std::logic_error if `exec` is not a
// SpaceExec of this space.
Space const& instance_of(Exec const& exec);

}  // namespace spillway::SPILLWAY_SPACE
