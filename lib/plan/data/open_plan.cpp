#include "plan/data/open_plan.hpp"

#include <algorithm>

namespace spillway {

namespace {

template <class T>
bool is_open(Asked<T> const& asked, std::size_t i) {
  return !asked[std::min(i, asked.size() - 1)];
}

}  // namespace

OpenPlan open_plan(Graph const& graph, PlanRequest const& request, bool unified) {
  OpenPlan open;
  open.plan = make_plan(graph, request, BlockPolicy::keep);
  open.plan.unified = unified;
  open.prefetch = !request.prefetch;
  open.norm_is_awaited = request.norm_is_awaited;
  std::size_t layer = 0;
  for (Block const& block : graph.blocks)
    open.layers.push_back(block.layer && is_open(request.activations, layer++));
  for (std::size_t c = 0; c < graph.chunks.size(); ++c) {
    open.chunks.push_back({is_open(request.parameters, c), is_open(request.gradients, c),
                           is_open(request.optimizer, c), is_open(request.update, c)});
  }
  return open;
}

}  // namespace spillway
