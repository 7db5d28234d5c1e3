#include "tests/support/ptx/groups.hpp"

#include <algorithm>

namespace spillway::test::ptx {

void merge(std::vector<Group>& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (auto j = i + 1; j < groups.size();) {
      if (groups[j].pc != groups[i].pc) {
        ++j;
        continue;
      }
      groups[i].lanes |= groups[j].lanes;
      groups[i].waits = false;
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
    }
}

std::size_t pick(Warp& warp, Choice choice, std::uint64_t draw) {
  auto const& groups = warp.groups;
  auto const ready = std::ranges::count(groups, false, &Group::waits);
  if (ready == 0) {
    warp.pc = groups[0].pc;
    complain(warp, first_lane(groups[0].lanes), "waits for lanes of its warp that do not come");
  }
  auto nth = draw % static_cast<std::uint64_t>(ready);
  auto result = groups.size();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].waits) continue;
    if (choice == Choice::any && nth-- == 0) return i;
    if (result == groups.size() || groups[i].pc < groups[result].pc) result = i;
  }
  return result;
}

}  // namespace spillway::test::ptx
