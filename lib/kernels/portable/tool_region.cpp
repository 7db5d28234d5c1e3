#include "kernels/portable/tool_region.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/portable/space.hpp"

namespace spillway::SPILLWAY_SPACE {

namespace {

std::uint32_t device_of(Exec const& exec) {
  namespace Tools = Kokkos::Tools::Experimental;
  auto const* const on = dynamic_cast<SpaceExec const*>(&exec);
  return on != nullptr ? Tools::device_id(on->instance()) : Tools::device_id_root<Space>();
}

// While a Region lives, tools see what it is called, and a kernel with the label, if there is one.
class Region {
 public:
  Region(std::string const& name, std::string const& label, Exec const& exec)
      : m_has_kernel(!label.empty()) {
    Kokkos::Tools::pushRegion(name);
    if (m_has_kernel) Kokkos::Tools::beginParallelFor(label, device_of(exec), &m_kernel);
  }
  ~Region() {
    if (m_has_kernel) Kokkos::Tools::endParallelFor(m_kernel);
    Kokkos::Tools::popRegion();
  }
  Region(Region const&) = delete;
  Region& operator=(Region const&) = delete;

 private:
  bool m_has_kernel;
  std::uint64_t m_kernel = 0;  // the number that the tool has given it
};

}  // namespace

Launch in_region(Op const& op, bool launches_none, Launch launch) {
  if (!Kokkos::Tools::profileLibraryLoaded()) return launch;
  auto const kind = std::string(name(op.kind));
  return [region = fmt::format("{} {}", kind, op.name),
          label = launches_none ? "spillway::" + kind : std::string(),
          launch = std::move(launch)](Exec const& exec, void* const* operands) {
    Region const seen(region, label, exec);
    launch(exec, operands);
  };
}

}  // namespace spillway::SPILLWAY_SPACE
