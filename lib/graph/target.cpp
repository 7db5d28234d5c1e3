#include "graph/target.hpp"

#include <charconv>

namespace spillway {

std::optional<int> cuda_architecture(std::string_view target) {
  constexpr std::string_view prefix = "sm_";
  if (!target.starts_with(prefix)) return {};
  auto const number = target.substr(prefix.size());
  int architecture = 0;
  auto const [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), architecture);
  bool const all = error == std::errc() && end == number.data() + number.size();
  if (!all || number.starts_with('0') || architecture < 10 || architecture > 999) return {};
  return architecture;
}

bool is_target(std::string_view name) {
  return name == kHostTarget || cuda_architecture(name);
}

}  // namespace spillway
