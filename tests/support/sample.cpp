#include "tests/support/sample.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace spillway::test {
namespace {

char const* asked() {
  auto const* const text = std::getenv("SPILLWAY_SAMPLE");
  return text != nullptr ? text : "0";
}

std::uint64_t sample() {
  static auto const number = std::strtoull(asked(), nullptr, 10);
  return number;
}

}  // namespace

bool takes_all() {
  return std::string_view(asked()) == "all";
}

std::vector<unsigned> sampled_seeds(unsigned some, unsigned all,
                                    std::vector<unsigned> const& kept) {
  std::vector<unsigned> seeds = kept;
  auto const count = takes_all() ? all : std::min(some, all);
  for (std::uint64_t i = 0; i < count; ++i)
    seeds.push_back(static_cast<unsigned>((sample() * count + i) % all));
  return seeds;
}

std::uint64_t turn_of(std::uint64_t count, std::uint64_t offset) {
  return (sample() + offset) % count;
}

}  // namespace spillway::test
