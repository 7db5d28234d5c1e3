#include "plan/schedule/schedule.hpp"

#include <stdexcept>
#include <string>

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

void check_plan(Graph const& graph, Plan const& plan) {
  if (plan.blocks.size() != graph.blocks.size() || plan.chunks.size() != graph.chunks.size()) {
    throw std::invalid_argument("the plan is for another model: its blocks or chunks do not match");
  }
  if (!is_normal(graph, plan))
    throw std::logic_error("the plan is not normal: see plan/data/plan.hpp");
  if (plan.update_slice < 1) throw std::invalid_argument("update_slice: less than one element");
  if (plan.staging_slot_bytes < 1 || plan.staging_slot_bytes % kPieceBytes != 0)
    throw std::invalid_argument("staging_slot_bytes: not whole pieces of the spill file");
  for (ChunkPlan const& chunk : plan.chunks) check_offered(chunk);
}

// Tells all events of the Program. Inference consists of a forward pass only.
void tell(Draft& draft, std::int64_t micro_batches) {
  Variants variants(draft.graph, draft.writer);
  GraphShape const shape(draft, variants);
  ProgramSink sink(draft, shape, variants);
  StepTelling step(shape, draft.plan.redo, sink);
  if (draft.graph.purpose != Purpose::train) return step.micro_batch({"forward", true, false});
  step.begin_step();
  bool const one = micro_batches == 1;
  if (!one) step.micro_batch({"first", true, false});
  if (micro_batches > 2) step.micro_batch({"middle", false, false});
  step.micro_batch({"last", one, true});
  step.update();
}

// Makes a Program with late reloads. Evaluation and generation have none, since they save nothing.
Program told(Graph const& graph, Plan const& plan, std::int64_t micro_batches, std::int64_t ranks) {
  auto const fates = decide_fates(graph, plan);
  auto const groups = backward_groups(graph);
  auto const streaming = plan_streaming(graph, plan, fates, groups);
  auto const draft_with = [&](Reloads const& reloads) {
    Draft draft{graph,
                plan,
                fates,
                groups,
                reloads,
                streaming,
                ProgramWriter(graph, plan, micro_batches, ranks)};
    tell(draft, micro_batches);
    return draft;
  };
  auto const reloads = reload_on_demand(graph, fates);
  Draft on_demand = draft_with(reloads);
  if (reloads.empty() || plan.prefetch == 0) return std::move(on_demand.writer.program);
  return std::move(draft_with(hoist_reloads(on_demand, plan.prefetch)).writer.program);
}

}  // namespace

Program schedule(Graph const& graph, Plan const& plan, Purpose purpose, std::int64_t micro_batches,
                 std::int64_t ranks) {
  bool const trains = purpose == Purpose::train;
  if (trains) check_plan(graph, plan);
  auto program = told(graph, plan, trains ? micro_batches : 1, ranks);
  program.purpose = purpose;
  program.redo = plan.redo;
  link(program);
  return program;
}

}  // namespace spillway
