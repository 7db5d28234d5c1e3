#include "plan/proof/alike.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace spillway {
namespace {

// Lists what a step exchanges. Middles count twice at most, which tells them from none or one.
std::vector<ItemNumber> exchanges(Program const& program) {
  constexpr std::int64_t most_middles = 2;
  std::vector<ItemNumber> items;
  for (int const s : segment_sequence(program, most_middles)) {
    for (auto i = program.segments[s].first; i < program.segments[s].last; ++i)
      if (program.items[i].lane == Lane::comm) items.push_back(i);
  }
  return items;
}

// Programs number the tensors that their schedules add otherwise, so tensors are told by name.
std::string_view name_of(Program const& program, BufferId buffer) {
  if (buffer == kAbsent) return "";
  return program.tensors[program.buffers[buffer].tensor].name;
}

bool exchange_alike(Program const& one, Item const& a, Program const& other, Item const& b) {
  auto const is_same = [&](BufferId mine, BufferId theirs) {
    return name_of(one, mine) == name_of(other, theirs);
  };
  return a.kind == b.kind && a.chunk == b.chunk && written_bytes(a) == written_bytes(b) &&
         std::ranges::equal(a.operands, b.operands, is_same);
}

}  // namespace

std::optional<std::string> unlike_exchanges(Program const& one, Program const& other) {
  auto const mine = exchanges(one), theirs = exchanges(other);
  for (std::size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
    if (exchange_alike(one, one.items[mine[i]], other, other.items[theirs[i]])) continue;
    return fmt::format("{} meets {}", describe(one, mine[i]), describe(other, theirs[i]));
  }
  if (mine.size() == theirs.size()) return std::nullopt;
  return fmt::format("{} exchanges meet {}", mine.size(), theirs.size());
}

void require_alike_exchanges(Program const& one, Program const& other) {
  if (auto const why = unlike_exchanges(one, other)) throw std::logic_error(*why);
}

}  // namespace spillway
