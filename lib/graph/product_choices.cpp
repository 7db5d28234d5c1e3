#include "graph/product_choices.hpp"

#include <fmt/core.h>

namespace spillway {
namespace {

std::string maker(ProductChoices const& choices) {
  return choices.made_by.empty() ? "no library" : choices.made_by;
}

}  // namespace

std::string describe_difference(ProductChoices const& before, ProductChoices const& now) {
  if (before.made_by != now.made_by) return fmt::format("{} -> {}", maker(before), maker(now));
  int others = 0;
  for (auto const& [shape, algorithm] : now.algorithms) {
    auto const found = before.algorithms.find(shape);
    if (found != before.algorithms.end() && found->second != algorithm) ++others;
  }
  if (others == 0) return "";
  return fmt::format("{} of {} have other algorithms", others, now.algorithms.size());
}

}  // namespace spillway
