#include "tests/support/cuda/lt_objects.hpp"

#include <fmt/format.h>

namespace spillway::test::cuda {

std::vector<std::string> LtObjects::leftovers() const {
  std::vector<std::string> result;
  for (auto const& [handle, object] : m_all) {
    auto const* const name = std::visit([](auto const& o) { return lt_name(o); }, object);
    result.push_back(fmt::format("{} {:#x} is not destroyed", name, handle));
  }
  return result;
}

}  // namespace spillway::test::cuda
