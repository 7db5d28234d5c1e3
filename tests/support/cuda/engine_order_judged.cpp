// Judges, when a run has ended, what an EngineOrder has seen.
#include <array>
#include <utility>

#include "tests/support/cuda/engine_order.hpp"

namespace spillway::test::cuda {
namespace {

constexpr std::size_t kMostNamed = 5;

Mark const& begin_of(auto const& seen) {
  return seen.pieces ? seen.pieces->begin : seen.begin;
}
Mark const& end_of(auto const& seen) {
  return seen.pieces ? seen.pieces->end : seen.end;
}

}  // namespace

std::vector<std::string> EngineOrder::unordered() const {
  std::vector<std::string> result;
  std::vector<Seen const*> latest(m_program.items.size());
  std::array<std::pair<ItemNumber, Seen const*>, kLanes> on_lane{};
  for (std::size_t number_of_run = 0; number_of_run < m_runs.size(); ++number_of_run) {
    auto const& run = m_runs[number_of_run];
    for (std::size_t instance = 0; instance < m_items.size(); ++instance) {
      auto const number = static_cast<std::size_t>(m_items[instance]);
      auto const& item = m_program.items[number];
      auto const& seen = run[instance];
      if (begin_of(seen).component < 0) continue;  // the item was not run
      if (!ordered(m_prepared[number_of_run], begin_of(seen)) && result.size() < kMostNamed)
        result.push_back(m_texts[number] + " need not be after its run was prepared");
      auto const require = [&](Seen const* earlier, ItemNumber of) {
        if (earlier == nullptr || ordered(end_of(*earlier), begin_of(seen))) return;
        if (result.size() < kMostNamed)
          result.push_back(m_texts[number] + " need not be after " +
                           m_texts[static_cast<std::size_t>(of)]);
      };
      for (auto const wait : item.waits) require(latest[static_cast<std::size_t>(wait)], wait);
      auto& before = on_lane[index(item.lane)];
      bool const overlaps = item.lane == Lane::nvme_read || item.lane == Lane::nvme_write;
      if (!overlaps) require(before.second, before.first);
      before = {item.number, &seen};
      latest[number] = &seen;
    }
  }
  return result;
}

std::vector<std::string> EngineOrder::not_ended() const {
  std::vector<std::string> result;
  for (auto const& reliance : m_reliances) {
    if (reliance.run >= m_runs.size()) continue;  // a Program without items has no runs
    auto const& run = m_runs[reliance.run];
    for (std::size_t instance = 0; instance < m_items.size(); ++instance) {
      auto const number = static_cast<std::size_t>(m_items[instance]);
      auto const& seen = run[instance];
      if (m_program.items[number].lane != reliance.lane || end_of(seen).component < 0) continue;
      if (!ordered(end_of(seen), reliance.when) && result.size() < kMostNamed)
        result.push_back(m_texts[number] + " need not have ended when somebody relies on it");
    }
  }
  return result;
}

void EngineOrder::note_orders(OrdersSeen& orders) const {
  auto const begun = [](Seen const& seen) { return seen.pieces ? seen.pieces->begun : seen.begun; };
  for (auto const& run : m_runs) {
    for (std::size_t a = 0; a < run.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        auto const &one = run[a], &other = run[b];
        // One of the two items was not run, or has no work on the device.
        if (begun(one) == 0 || begun(other) == 0) continue;
        bool const free =
            !ordered(end_of(one), begin_of(other)) && !ordered(end_of(other), begin_of(one));
        bool const first = begun(one) < begun(other);
        orders.note(first ? a : b, first ? b : a, run.size(), free);
      }
    }
  }
}

}  // namespace spillway::test::cuda
