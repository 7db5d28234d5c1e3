#include "plan/trace/trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace spillway {

namespace {

constexpr std::int64_t kGapNs = 100'000'000;

TraceProcess const kMeasured = {1, "measured, rank 0"}, kPredicted = {2, "predicted"};

std::int64_t ns(double seconds) {
  return std::llround(1e9 * seconds);
}

// Returns how long before its step the first item runs.
double early_s(StepTimes const& times) {
  double early_s = 0;
  for (ItemTime const& time : times.items) early_s = std::max(early_s, -time.start_s);
  return early_s;
}

}  // namespace

bool TraceReach::take_in(std::string_view event) {
  auto const json = nlohmann::json::parse(event, nullptr, false);
  if (!json.is_object()) return false;
  auto const number = [&](char const* key) {
    auto const found = json.find(key);
    return found != json.end() && found->is_number() ? found->get<double>() : 0;
  };
  end_ns =
      std::max(end_ns, static_cast<std::int64_t>(std::ceil(1e3 * (number("ts") + number("dur")))));
  flows = std::max(flows, static_cast<std::int64_t>(number("id")));
  return true;
}

Trace::Trace(Program const& program, Simulation const& simulation, TraceReach const& behind)
    : m_predicted_times(predicted_times(program, simulation)),
      m_reach(behind),
      m_measured(program, kMeasured, m_reach.flows),
      m_predicted(program, kPredicted, m_reach.flows) {}

std::int64_t Trace::begin_ns(MeasuredStep const& step, bool follows) const {
  if (follows) return m_origin_ns + ns(step.begin_s - m_origin_s);
  return reach().end_ns + kGapNs + ns(std::max(early_s(step.times), early_s(m_predicted_times)));
}

void Trace::add(MeasuredStep const& step, TraceSink const& sink) {
  auto const number = step.head.number.value_or(0);
  // A step that was done again has the number of the step before.
  bool const follows = m_last && (number == *m_last || number == *m_last + 1);
  auto const begin_ns = this->begin_ns(step, follows);
  if (!follows) {
    m_origin_s = step.begin_s;
    m_origin_ns = begin_ns;
  }
  m_last = number;
  m_measured.write(step.head, step.times, begin_ns, follows, sink);
  if (m_predicted.has_room(m_predicted_times, begin_ns))
    m_predicted.write({step.head.number}, m_predicted_times, begin_ns, false, sink);
}

TraceReach Trace::reach() const {
  return {std::max({m_reach.end_ns, m_measured.end_ns(), m_predicted.end_ns()}), m_reach.flows};
}

std::string predicted_trace(Program const& program, Simulation const& simulation) {
  std::string text(kTraceBegin);
  std::int64_t flows = 0;
  auto const times = predicted_times(program, simulation);
  StepEvents events(program, kPredicted, flows);
  events.write({}, times, ns(early_s(times)), false, [&](std::string const& event) {
    if (text.size() > kTraceBegin.size()) text += kTraceComma;
    text += event;
  });
  return text.append(kTraceEnd);
}

bool begins_predicted_trace(std::string_view beginning) {
  return beginning.starts_with(
      fmt::format("{}{{\"ph\":\"X\",\"pid\":{},", kTraceBegin, kPredicted.number));
}

}  // namespace spillway
