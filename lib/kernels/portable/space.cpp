#include "kernels/portable/space.hpp"

#include <stdexcept>

namespace spillway::SPILLWAY_SPACE {
namespace {

// In a Kokkos that is built with its deprecated code, instance.concurrency() returns the number of
// threads of the default instance, so a static function is called that takes the instance.
template <class Instance>
int concurrency_of(Instance const& instance) {
  if constexpr (requires { Instance::concurrency(instance); })
    return Instance::concurrency(instance);
  else
    return instance.concurrency();
}

}  // namespace

SpaceExec::SpaceExec(Space const& instance)
    : m_instance(instance), m_concurrency(concurrency_of(instance)) {}

void SpaceExec::fence() const {
  m_instance.fence("spillway::fence");
}

Space const& instance_of(Exec const& exec) {
  auto const* const mine = dynamic_cast<SpaceExec const*>(&exec);
  if (mine == nullptr) throw std::logic_error("a kernel is launched on another table's Exec");
  return mine->instance();
}

}  // namespace spillway::SPILLWAY_SPACE
