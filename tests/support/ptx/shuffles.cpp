// Implements shfl, by which each lane reads a register of another lane.
#include "tests/support/ptx/exchange.hpp"

namespace spillway::test::ptx {
namespace {

enum class Shuffle : std::uint8_t { idx, up, down, bfly };

struct Source {
  unsigned lane;
  bool is_inside;
};

// Lanes read within their segment only. `limits` has the segment's last lane in bits 0 to 4, and in
// bits 8 to 12 a mask of those bits of a lane's number that tell its segment.
Source source_of(Shuffle how, unsigned lane, std::uint32_t b, std::uint32_t limits) {
  auto const segment = limits >> 8 & 31, clamp = limits & 31, count = b & 31;
  auto const least = lane & segment, most = least | (clamp & ~segment);
  switch (how) {
    case Shuffle::idx: {
      auto const from = least | (count & ~segment);
      return {from, from <= most};
    }
    case Shuffle::up:
      return {lane - count, static_cast<int>(lane - count) >= static_cast<int>(most)};
    case Shuffle::down:
      return {lane + count, lane + count <= most};
    default:
      return {lane ^ count, (lane ^ count) <= most};
  }
}

void shfl(Warp& warp, Operation const& o, Lanes mask) {
  auto const* const a = warp.lanes<std::uint32_t const>(o.from[0]);
  auto const* const b = warp.lanes<std::uint32_t const>(o.from[1]);
  auto const* const limits = warp.lanes<std::uint32_t const>(o.from[2]);
  need_known(warp, o.from[1], mask, "the lane of a shuffle");
  need_known(warp, o.from[2], mask, "the segment of a shuffle");
  alignas(64) std::uint32_t values[kLanes] = {};
  Lanes inside = 0, known = 0;
  for_each_lane(mask, [&](unsigned lane) {
    auto source = source_of(static_cast<Shuffle>(o.mode), lane, b[lane], limits[lane]);
    if (!source.is_inside) source.lane = lane;
    if ((mask >> source.lane & 1) == 0)
      complain(warp, lane, "shuffles from a lane that takes no part");
    values[lane] = a[source.lane];
    inside |= Lanes{source.is_inside} << lane;
    known |= (warp.known[o.from[0]] >> source.lane & 1) << lane;
  });
  write_lanes(warp, o.to, values, mask);
  warp.set_known(o.to, known, mask);
  if (o.to2 == 0) return;
  write_predicate(warp, o.to2, inside, mask);
  warp.set_known(o.to2, kAllLanes, mask);
}

}  // namespace

void add_shuffles(Table& table) {
  for (auto const& [how, name] : {std::pair{Shuffle::idx, "idx"},
                                  {Shuffle::up, "up"},
                                  {Shuffle::down, "down"},
                                  {Shuffle::bfly, "bfly"}})
    add_exchange(table, std::string("shfl.sync.") + name + ".b32", "4q=444k", shfl,
                 static_cast<std::uint8_t>(how));
}

}  // namespace spillway::test::ptx
