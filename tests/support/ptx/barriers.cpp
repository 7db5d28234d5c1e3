#include "tests/support/ptx/barriers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spillway::test::ptx {
namespace {

constexpr std::uint32_t kBarriers = 16;

// Returns the value that all lanes of a warp have in a register. Complains if they differ.
std::uint32_t common(Warp const& warp, Slot slot, std::string_view what) {
  need_known(warp, slot, warp.alive, what);
  auto const* const values = warp.lanes<std::uint32_t const>(slot);
  auto const first = first_lane(warp.alive);
  for_each_lane(warp.alive, [&](unsigned lane) {
    if (values[lane] != values[first])
      complain(warp, lane, fmt::format("{} differs among the lanes of a warp", what));
  });
  return values[first];
}

bool wait_together(Warp const& a, Warp const& b) {
  return a.at_barrier && b.at_barrier && a.barrier == b.barrier;
}

void begin_epoch(Warp& warp, std::uint32_t epoch) {
  warp.at_barrier = false;
  warp.epoch = epoch;
  warp.time = {};
  warp.seen = {};
}

// Lets these warps go on. Each knows from now on what any of them knew, and what they have done.
void pass(Block& block, std::vector<Warp*> const& warps) {
  auto const epoch = ++block.run.epoch;
  Past joined = {};
  for (auto const* const warp : warps)
    for (unsigned i = 0; i < kLanes; ++i) joined[i] = std::max(joined[i], warp->past[i]);
  for (auto const* const warp : warps) joined[warp->number()] = epoch;
  for (auto* const warp : warps) {
    warp->past = joined;
    begin_epoch(*warp, epoch);
  }
}

}  // namespace

void arrive(Warp& warp, Slot barrier, Slot threads) {
  warp.at_barrier = true;
  warp.barrier = common(warp, barrier, "the barrier's number");
  warp.barrier_warps = static_cast<std::uint32_t>(warp.block->warps.size());
  auto const lane = first_lane(warp.alive);
  if (warp.barrier >= kBarriers)
    complain(warp, lane, fmt::format("there is no barrier {}", warp.barrier));
  if (threads == kZeros) return;
  auto const count = common(warp, threads, "the barrier's number of threads");
  if (count == 0 || count % kLanes != 0 || count / kLanes > warp.barrier_warps)
    complain(warp, lane, fmt::format("a barrier of {} threads, which are no warps", count));
  warp.barrier_warps = count / kLanes;
}

bool pass_with(Block& block, Warp const& warp) {
  std::vector<Warp*> together;
  for (auto& other : block.warps) {
    if (!wait_together(warp, other)) continue;
    if (other.barrier_warps != warp.barrier_warps)
      complain(warp, 0,
               fmt::format("waits for {} warps at a barrier, and warp {} for {}",
                           warp.barrier_warps, other.number(), other.barrier_warps));
    together.push_back(&other);
  }
  if (together.size() < warp.barrier_warps) return false;
  pass(block, together);
  return true;
}

void need_no_waiting(Block const& block) {
  auto const waiting = std::ranges::find_if(block.warps, &Warp::at_barrier);
  if (waiting == block.warps.end()) return;
  for (auto const& warp : block.warps)
    if (warp.at_barrier && warp.barrier != waiting->barrier)
      complain(warp, 0,
               fmt::format("waits at barrier {}, and warp {} at barrier {}", warp.barrier,
                           waiting->number(), waiting->barrier));
  auto const ended = std::ranges::find(block.warps, false, &Warp::at_barrier);
  complain(*waiting, 0, fmt::format("waits at a barrier, and warp {} has ended", ended->number()));
}

void begin_epochs(Block& block) {
  block.first_epoch = ++block.run.epoch;
  for (auto& warp : block.warps) {
    warp.past.fill(block.first_epoch);
    begin_epoch(warp, block.first_epoch);
  }
}

}  // namespace spillway::test::ptx
