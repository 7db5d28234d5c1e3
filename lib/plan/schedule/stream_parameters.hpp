// Parameters that are not at home on the device come and go, station by station.
#pragma once

#include "plan/schedule/draft.hpp"

namespace spillway {

Streaming plan_streaming(Graph const& graph, Plan const& plan, Fates const& fates,
                         std::vector<BackwardGroup> const& groups);
void enter_station(Draft& draft);
void leave_station(Draft& draft);

}  // namespace spillway
