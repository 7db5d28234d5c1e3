#include "profile/link_bench.hpp"

#include <algorithm>

#include "base/steady_clock.hpp"
#include "profile/compute_lane.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kCopyBytes = std::int64_t{16} << 20;  // the bytes of one copy
constexpr int kCopies = 4;                                   // how many are launched at a time
constexpr double kLinkPatience_s = 0.1;                      // how long each rate is measured

double gbps(int copies, double s) {
  return s > 0 ? static_cast<double>(copies * kCopyBytes) / s * 1e-9 : 0;
}

}  // namespace

LinkRates slower(LinkRates const& a, LinkRates const& b) {
  auto const known = [](double x, double y) { return x > 0 && y > 0 ? std::min(x, y) : x + y; };
  return {known(a.h2d_gbps, b.h2d_gbps), known(a.d2h_gbps, b.d2h_gbps)};
}

LinkBench::LinkBench(Device& device)
    : m_host(static_cast<std::size_t>(2 * kCopyBytes), "memory for copies"),
      m_pinned(device.pin(m_host.all())),
      m_there(device.reserve("memory for copies", 2 * kCopyBytes, 2 * kCopyBytes)) {
  for (auto& way : m_ways) way = {device.stream(true), device.event(), device.event()};
}

LinkRates LinkBench::rates() {
  LinkRates const alone = {alone_gbps(h2d), alone_gbps(d2h)};
  return slower(alone, both_ways(kLinkPatience_s));
}

LinkRates LinkBench::both_ways(double least_s) {
  std::array<double, 2> s{};
  int copies = 0;
  auto const start = SteadyClock::now();
  while (copies == 0 || seconds_since(start) < least_s) {
    for (auto const direction : {h2d, d2h}) launch(direction, kCopies);
    for (auto const direction : {h2d, d2h}) s[direction] += seconds(direction);
    copies += kCopies;
  }
  return {gbps(copies, s[h2d]), gbps(copies, s[d2h])};
}

double LinkBench::alone_gbps(Direction direction) {
  launch(direction, 1);
  seconds(direction);
  double best = 0;
  for (auto const start = SteadyClock::now();
       best == 0 || seconds_since(start) < kLinkPatience_s;) {
    launch(direction, kCopies);
    best = std::max(best, gbps(kCopies, seconds(direction)));
  }
  return best;
}

// In both memories, each direction uses a half of its own.
void LinkBench::launch(Direction direction, int copies) {
  auto const& way = m_ways[direction];
  auto const first = static_cast<std::int64_t>(direction) * kCopyBytes;
  auto const here =
      m_host.all().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(kCopyBytes));
  auto const there = m_there->at(first, kCopyBytes);
  way.stream->record(*way.begin);
  for (int i = 0; i < copies; ++i)
    direction == h2d ? way.stream->copy(there, here) : way.stream->copy(here, there);
  way.stream->record(*way.end);
}

double LinkBench::seconds(Direction direction) const {
  auto const& way = m_ways[direction];
  wait_for(*way.end);
  return way.end->seconds_since(*way.begin);
}

}  // namespace spillway
