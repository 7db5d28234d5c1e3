#include "plan/schedule/schedule.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/math.hpp"
#include "plan/proof/derive.hpp"
#include "plan/schedule/program_sink.hpp"
#include "plan/schedule/reloads.hpp"

namespace spillway {

namespace {

void refuse(std::string const& what) {
  throw std::invalid_argument(what + " not offered by this version");
}

void check_offered(ChunkPlan const& chunk) {
  for (PlaceRow const& row : kPlaceTable) {
    if (!row.nvme && chunk.*row.place == Tier::nvme)
      refuse("plan." + std::string(row.name) + ": nvme is");
  }
}

void check_shared_out(Graph const& graph, Plan const& plan) {
  for (Chunk const& chunk : graph.chunks) {
    if (plan.chunks[chunk.id].shard == Shard::none || may_share_out(graph, chunk.id)) continue;
    if (chunk.is_updated_whole())
      refuse("plan.shard for parameters that the optimizer updates whole is");
    else
      refuse("plan.shard for parameters that are used twice, with optim.reduction: each, is");
  }
}

void check_plan(Graph const& graph, Plan const& plan) {
  if (plan.blocks.size() != graph.blocks.size() || plan.chunks.size() != graph.chunks.size()) {
    throw std::invalid_argument("the plan is for another model: its blocks or chunks do not match");
  }
  if (!is_normal(graph, plan))
    throw std::logic_error("the plan is not normal: see plan/data/plan.hpp");
  if (plan.group < 1) throw std::invalid_argument("group: less than one micro-batch");
  if (plan.update_slice < 1) throw std::invalid_argument("update_slice: less than one element");
  if (plan.staging_piece_bytes < 1 || plan.staging_piece_bytes % kPieceBytes != 0)
    throw std::invalid_argument("staging_piece_bytes: not whole pieces of the spill file");
  for (ChunkPlan const& chunk : plan.chunks) check_offered(chunk);
  check_shared_out(graph, plan);
}

// Returns the draft of a training step or, if the graph is for inference, of a forward pass.
Draft told(GraphShape const& shape, Program spare) {
  ProgramSink sink(shape, std::move(spare));
  StepTelling step(shape, shape.plan().redo, sink);
  if (shape.graph().purpose != Purpose::train) {
    step.micro_batches({"forward", 1, true, false});
    return sink.take();
  }
  step.begin_step();
  auto const group = std::min<std::int64_t>(shape.plan().group, shape.micro_batches());
  auto const groups = div_ceil(shape.micro_batches(), group);
  auto const all = static_cast<int>(group);
  auto const rest = static_cast<int>(shape.micro_batches() - (groups - 1) * group);
  if (groups > 1) step.micro_batches({"first", all, true, false});
  if (groups > 2) step.micro_batches({"middle", all, false, false});
  step.micro_batches({"last", rest, groups == 1, true});
  step.update();
  return sink.take();
}

}  // namespace

Program schedule(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                 std::int64_t ranks) {
  auto program = schedule_without_links(graph, plan, micro_batches, ranks);
  link(program);
  return program;
}

Program schedule_without_links(Graph const& graph, Plan const& asked, std::int64_t micro_batches,
                               std::int64_t ranks, Program spare) {
  auto const plan = for_ranks(asked, ranks);
  bool const trains = graph.purpose == Purpose::train;
  if (trains) check_plan(graph, plan);
  GraphShape shape(graph, plan, trains ? micro_batches : 1, ranks);
  auto draft = told(shape, std::move(spare));
  auto const has_any = [](auto const& tensors) { return !tensors.empty(); };
  if (plan.prefetch > 0 && std::ranges::any_of(shape.reloads(), has_any)) {
    hoist_reloads(shape, draft);
    draft = told(shape, std::move(draft.program));
  }
  std::int64_t told_micro_batches = 0;
  for (Segment const& segment : draft.program.segments)
    told_micro_batches += times_a_step(draft.program, segment) * segment.micro_batches;
  check(told_micro_batches == shape.micro_batches(), "a step", "has micro-batches in no segment");
  return std::move(draft.program);
}

}  // namespace spillway
