// When parameters that are not at home on the device come and go.
#pragma once

#include "plan/schedule/draft.hpp"

namespace spillway {

Streaming plan_streaming(Graph const& graph, Plan const& plan, Fates const& fates,
                         std::vector<BackwardGroup> const& groups);

}  // namespace spillway
