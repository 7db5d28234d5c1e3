// Reads a line of metrics.jsonl, which report/metrics.hpp defines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "monitor/json_fields.hpp"
#include "monitor/metric_rows.hpp"
#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// A StepRow is a row about a step. What a line does not say, or says as null, is empty or 0.
struct StepRow {
  std::int64_t step = 0, tokens = 0;
  std::optional<double> loss = {}, valid_loss = {}, grad_norm = {}, lr = {}, mfu = {},
                        matmul_share = {};
  double step_s = 0, tokens_per_s = 0;
  struct LaneBusy {
    Lane lane = Lane::compute;
    double busy_s = 0, stall_s = 0;
  };
  std::vector<LaneBusy> lanes = {};
  TierBytes peak_bytes{};
  MetricValues metrics{};
};

// An EventRow is a row about an event of a run, such as its start.
struct EventRow {
  std::string event;
  std::int64_t step = 0;
  std::string time = {};  // in UTC
  std::string from = {}, plan = {}, why = {}, job = {};
  std::optional<int> exit = {};                 // of an "end"
  std::optional<double> predicted_step_s = {};  // by the plan that begins here
  std::vector<std::string> changed = {};
  std::int64_t done_again = 0;  // how many steps that were logged before it come once more
  RunJson fields = {};          // as in the file
};

// Returns nothing for a line that is no row.
std::optional<std::variant<StepRow, EventRow>> parse_metrics_row(std::string_view line);

// Returns the seconds since 1970 of a text such as "2026-01-31T09:05:00Z", or nothing.
std::optional<double> parse_time_s(std::string const& text);

}  // namespace spillway
