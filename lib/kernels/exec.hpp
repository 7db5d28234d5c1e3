// The execution-space instance that every kernel runs on, and the scope that owns Kokkos.
#pragma once

#include <Kokkos_Core.hpp>

namespace spillway {

class Exec {
 public:
  using Space = Kokkos::DefaultExecutionSpace;

  explicit Exec(Space space = Space{}) : m_space(std::move(space)) {}
  Space const& space() const { return m_space; }
  void fence() const { m_space.fence("spillway::fence"); }

 private:
  Space m_space;
};

}  // namespace spillway
