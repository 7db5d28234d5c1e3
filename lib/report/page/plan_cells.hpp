// Reads a plan as a run writes it (plan.yaml, plan-<step>.yaml) into the cells of its picture.
#pragma once

#include <string_view>

#include "report/page/page_json.hpp"

namespace spillway {

// Returns JSON with `columns`, the names of chunks and layers in the order of the plan; `rows`,
// each with its `key` (activations, parameters, ..) and a cell for each column, "" where the plan
// says nothing; and `settings` with the single values such as prefetch. The text is that of
// to_yaml(Plan); lines of any other form are passed over.
PageJson plan_cells(std::string_view text);

}  // namespace spillway
