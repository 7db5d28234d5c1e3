// The execution space that a build of this folder is for. Who compiles the folder defines
// SPILLWAY_SPACE, the namespace of all that depends on the space, and SPILLWAY_KOKKOS_SPACE, its
// type in Kokkos. One program may hold several such builds.
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#include "kernels/exec.hpp"

namespace spillway::SPILLWAY_SPACE {

using Space = SPILLWAY_KOKKOS_SPACE;

// Whether neighbouring threads take neighbouring elements, as devices want it. Of the host's
// threads each takes a stretch of them, with SIMD; SPILLWAY_LIKE_DEVICE makes them work as a device
// does.
#ifdef SPILLWAY_LIKE_DEVICE
inline constexpr bool kLikeDevice = true;
#else
inline constexpr bool kLikeDevice = !std::is_same_v<Space::memory_space, Kokkos::HostSpace>;
#endif

class SpaceExec final : public Exec {
 public:
  explicit SpaceExec(Space const& instance);

  Space const& instance() const { return m_instance; }
  int concurrency() const override { return m_concurrency; }
  void fence() const override;

 private:
  Space m_instance;
  int m_concurrency;  // known ahead: asking for it may allocate
};

// Throws std::logic_error if `exec` is not one of this space's.
Space const& instance_of(Exec const& exec);

}  // namespace spillway::SPILLWAY_SPACE
