#include "graph/target.hpp"

#include "base/number.hpp"

namespace spillway {

std::optional<int> cuda_architecture(std::string_view target) {
  constexpr std::string_view prefix = "sm_";
  if (!target.starts_with(prefix)) return {};
  auto const number = target.substr(prefix.size());
  auto const architecture = to_number<int>(number);
  if (!architecture || number.starts_with('0') || *architecture < 10 || *architecture > 999)
    return {};
  return architecture;
}

bool is_target(std::string_view name) {
  return name == kHostTarget || cuda_architecture(name);
}

}  // namespace spillway
