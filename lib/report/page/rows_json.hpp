// Makes the columns of a page of the rows that a run has logged.
#pragma once

#include <cstddef>
#include <vector>

#include "monitor/metric_rows.hpp"
#include "report/page/page_json.hpp"

namespace spillway {

// Returns for each row the seconds of all steps so far, where a step that was not logged counts as
// the next one.
std::vector<double> elapsed_s(MetricRows const& rows);

// Returns the rows as columns, thinned out to about `most`.
PageJson rows_json(MetricRows const& rows, std::size_t most);

}  // namespace spillway
