#include "plan/schedule/schedule.hpp"

#include <stdexcept>
#include <string>

#include "plan/data/plan.hpp"
#include "plan/proof/derive.hpp"
#include "plan/schedule/program_sink.hpp"
#include "plan/schedule/reloads.hpp"
#include "plan/schedule/stream_parameters.hpp"

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
  for (ChunkPlan const& chunk : plan.chunks) check_offered(chunk);
}

void tell(Draft& draft, std::int64_t micro_batches) {
  Variants variants(draft.graph, draft.writer);
  GraphShape const shape(draft, variants);
  ProgramSink sink(draft, shape, variants);
  StepTelling step(shape, draft.plan.redo, sink);
  step.begin_step();
  bool const one = micro_batches == 1;
  if (!one) step.micro_batch({"first", true, false});
  if (micro_batches > 2) step.micro_batch({"middle", false, false});
  step.micro_batch({"last", one, true});
  step.update();
}

Program schedule_training(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                          std::int64_t ranks) {
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

// Evaluation and generation keep nothing: a tensor's bytes are free after its last use.
Program schedule_inference(Graph const& graph, Plan const& plan, std::int64_t ranks) {
  auto const tensors = graph.tensors.size();
  Fates const fates{IdVector<Fate>(tensors, Fate::keep), IdVector<std::int64_t>(tensors, 0),
                    IdVector<std::vector<int>>(tensors),
                    IdVector<std::vector<int>>(graph.blocks.size())};
  std::vector<BackwardGroup> const no_groups;
  Reloads const no_reloads;
  auto const streaming = plan_streaming(graph, plan, fates, no_groups);
  Draft draft{
      graph, plan, fates, no_groups, no_reloads, streaming, ProgramWriter(graph, plan, 1, ranks)};
  Variants variants(graph, draft.writer);
  GraphShape const shape(draft, variants);
  ProgramSink sink(draft, shape, variants);
  StepTelling(shape, plan.redo, sink).micro_batch({"forward", true, false});
  return std::move(draft.writer.program);
}

}  // namespace

Program schedule(Graph const& graph, Plan const& plan, Purpose purpose, std::int64_t micro_batches,
                 std::int64_t ranks) {
  Program program;
  if (purpose == Purpose::train) {
    check_plan(graph, plan);
    program = schedule_training(graph, plan, micro_batches, ranks);
  } else {
    program = schedule_inference(graph, plan, ranks);
  }
  program.purpose = purpose;
  program.redo = plan.redo;
  link(program);
  return program;
}

}  // namespace spillway
