// Implements cp.async. A copy is done when its thread waits for it, which is the latest moment that
// is allowed. Until then its bytes are under way, and nobody may touch them.
#include "tests/support/ptx/access.hpp"
#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {
namespace {

// Returns how many bytes a lane takes from its source; zeros follow them.
unsigned taken_bytes(Warp const& warp, Operation const& o, unsigned lane, unsigned bytes) {
  bool const ignores = (read_predicate(warp, o, 1) >> lane & 1) != 0;
  if (o.from[1] != kZeros && ignores) return 0;
  if (o.from[0] == kZeros) return bytes;
  auto const taken = warp.lanes<std::uint32_t const>(o.from[0])[lane];
  if (taken > bytes) complain(warp, lane, "a copy takes more bytes than it writes");
  return taken;
}

void need_source(Warp& warp, unsigned lane, std::uint64_t from, unsigned bytes, unsigned taken) {
  if (from % bytes != 0)
    complain(warp, lane, "the source of a copy is not aligned to its number of bytes");
  if (taken > 0) place_part(warp, lane, Space::global, from, taken, Touch::read);
}

void begin(Warp& warp, Operation const& o, Lanes mask) {
  auto const bytes = static_cast<unsigned>(o.immediate);
  if (bytes != o.mode && (o.mode != 0 || (bytes != 4 && bytes != 8 && bytes != 16)))
    complain(warp, first_lane(mask), "a copy has another number of bytes than is allowed");
  Address const source{o.address2, 8, o.offset2, Space::global};
  need_known(warp, source.slot, mask, "the address of a copy's source");
  need_known(warp, o.from[0], mask, "the number of bytes of a copy's source");
  need_known(warp, o.from[1], mask, "the predicate of a copy's source");
  auto const places = place(warp, address_of(o), mask, bytes, Touch::write, false);
  auto const sources = addresses_of(warp, source);
  for_each_lane(mask, [&](unsigned lane) {
    auto const taken = taken_bytes(warp, o, lane, bytes);
    auto const from = sources[lane];
    need_source(warp, lane, from, bytes, taken);
    need_none_under_way(warp, lane, places.states[lane], bytes, "writes");
    std::memset(places.states[lane], kUnderWay, bytes);
    warp.copies[lane].push_back({places.address[lane], from, bytes, taken, warp.copy_group[lane]});
  });
}

void finish(Warp& warp, unsigned lane, AsyncCopy const& copy) {
  auto const to = place_part(warp, lane, Space::shared, copy.to, copy.bytes, Touch::write);
  std::memset(to.at[lane], 0, copy.bytes);
  std::memset(to.states[lane], kKnown, copy.bytes);
  if (copy.source_bytes == 0) return;
  auto const from =
      place_part(warp, lane, Space::global, copy.from, copy.source_bytes, Touch::read);
  std::memcpy(to.at[lane], from.at[lane], copy.source_bytes);
  if (from.states[lane] != nullptr)
    std::memcpy(to.states[lane], from.states[lane], copy.source_bytes);
}

void commit(Warp& warp, Operation const& /*o*/, Lanes mask) {
  for_each_lane(mask, [&](unsigned lane) { ++warp.copy_group[lane]; });
}

// Finishes all groups but the latest ones, of which the immediate says how many may go on.
void wait_group(Warp& warp, Operation const& o, Lanes mask) {
  for_each_lane(mask, [&](unsigned lane) {
    std::erase_if(warp.copies[lane], [&](AsyncCopy const& copy) {
      if (copy.group + o.immediate >= warp.copy_group[lane]) return false;
      finish(warp, lane, copy);
      return true;
    });
  });
}

void wait_all(Warp& warp, Operation const& /*o*/, Lanes mask) {
  for_each_lane(mask, [&](unsigned lane) {
    for (auto const& copy : warp.copies[lane]) finish(warp, lane, copy);
    warp.copies[lane].clear();
  });
}

}  // namespace

void add_copies(Table& table) {
  for (bool const is_ca : {true, false}) {
    auto const opcode = std::string("cp.async.") + (is_ca ? "ca" : "cg") + ".shared.global";
    // A hint for caches adds an operand at the end.
    for (bool const has_hint : {false, true}) {
      auto& o = table.add(opcode + (has_hint ? ".L2::cache_hint" : ""),
                          has_hint ? "mmic mmizc" : "mmi mmiz", begin);
      o.space = Space::shared;
      o.mode = is_ca ? 0 : 16;  // .cg copies 16 bytes only
      o.tracks_known = true;
    }
  }
  table.ignore("cp", "L2::64B L2::128B L2::256B");
  table.add("cp.async.commit_group", "", commit).tracks_known = true;
  table.add("cp.async.wait_group", "i", wait_group).tracks_known = true;
  table.add("cp.async.wait_all", "", wait_all).tracks_known = true;
}

}  // namespace spillway::test::ptx
