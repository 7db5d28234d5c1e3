#include "run/largest_value.hpp"

#include <algorithm>
#include <numeric>

namespace spillway {

std::vector<TriedValue> try_values(std::int64_t first, std::int64_t most,
                                   std::function<TriedValue(std::int64_t)> const& ask) {
  constexpr std::int64_t parts = 64;
  std::vector<TriedValue> tried;
  auto const fits = [&](std::int64_t value) {
    tried.push_back(ask(value));
    return tried.back().fits;
  };
  std::int64_t does = 0, fails = most + 1;
  auto const note = [&](std::int64_t value) { (fits(value) ? does : fails) = value; };
  note(std::min(first, most));
  while (does == 0 && fails > 1) note(fails / 2);
  while (does > 0 && fails > most && does < most) note(std::min(2 * does, most));
  while (does > 0 && fails - does > std::max<std::int64_t>(1, does / parts))
    note(std::midpoint(does, fails));
  std::ranges::sort(tried, {}, &TriedValue::value);
  return tried;
}

TriedValue const* largest_of(std::vector<TriedValue> const& tried) {
  auto const last = std::find_if(tried.rbegin(), tried.rend(), [](auto& it) { return it.fits; });
  return last == tried.rend() ? nullptr : &*last;
}

TriedValue const* fastest_of(std::vector<TriedValue> const& tried) {
  TriedValue const* fastest = largest_of(tried);
  for (TriedValue const& it : tried)
    if (it.fits && it.tokens_per_s > fastest->tokens_per_s) fastest = &it;
  return fastest;
}

}  // namespace spillway
