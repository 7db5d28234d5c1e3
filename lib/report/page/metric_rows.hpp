// Reads metrics.jsonl for a page: the rows of steps, and the events between them.
#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <string_view>
#include <vector>

#include "report/page/page_json.hpp"

namespace spillway {

enum class Metric : std::uint8_t {
  tokens,
  elapsed_s,
  loss,
  valid_loss,
  lr,
  grad_norm,
  tokens_per_s,
  step_s,
  mfu,
  stall_s,
  spilled_bytes
};
// These are names of fields in metrics.jsonl and in the page. `elapsed_s` is not read but summed
// up: the seconds of all steps so far, where a step that was not logged counts as the next one.
inline constexpr auto kMetricNames =
    std::to_array<std::string_view>({"tokens", "elapsed_s", "loss", "valid_loss", "lr", "grad_norm",
                                     "tokens_per_s", "step_s", "mfu", "stall_s", "spilled_bytes"});

struct MetricRows {
  std::vector<std::int64_t> steps;  // ascending
  // The values of each Metric, NaN where a row has none.
  std::array<std::vector<double>, kMetricNames.size()> columns;
  // Rows with `event`, as they stand in the file. If steps were done again after one, its field
  // `done_again` says how many.
  std::vector<PageJson> events;
  std::int64_t unread_rows = 0;  // lines that are no row, as where a job was killed in the middle

  std::vector<double> const& of(Metric metric) const {
    return columns[static_cast<std::size_t>(metric)];
  }
};

// Of rows that tell of the same step the later one holds; so do all rows behind a start or a resume
// over rows of later steps before it.
MetricRows read_metric_rows(std::istream& lines);

// Returns the rows as columns, thinned out to about `most`.
PageJson to_json(MetricRows const& rows, std::size_t most);

}  // namespace spillway
