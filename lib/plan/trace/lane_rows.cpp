#include "plan/trace/lane_rows.hpp"

#include <algorithm>
#include <limits>

namespace spillway {

TrackSlice LaneRows::take(Lane lane, std::int64_t start_ns, std::int64_t end_ns) {
  auto& busy_until_ns = m_busy_until_ns[lane];
  if (is_serial(lane) && !busy_until_ns.empty()) start_ns = std::max(start_ns, busy_until_ns[0]);
  end_ns = std::max(start_ns, end_ns);
  auto row = std::ranges::find_if(busy_until_ns, [&](auto until) { return until <= start_ns; });
  if (row == busy_until_ns.end()) row = busy_until_ns.insert(row, end_ns);
  *row = end_ns;
  return {lane, static_cast<int>(row - busy_until_ns.begin()), start_ns, end_ns};
}

std::int64_t LaneRows::free_ns(Lane lane) const {
  auto const& busy_until_ns = m_busy_until_ns[lane];
  if (busy_until_ns.empty()) return std::numeric_limits<std::int64_t>::min();
  return *std::ranges::max_element(busy_until_ns);
}

}  // namespace spillway
