#include "report/page/plan_record.hpp"

#include "base/compact_json.hpp"
#include "plan/schedule/fates.hpp"
#include "report/page/lane_record.hpp"
#include "report/page/memory_record.hpp"
#include "report/tier_json.hpp"

namespace spillway {
namespace {

// With so many a page shows what a screen can, and a little zooming more.
constexpr std::size_t kMostPieces = 12'000, kMostMoments = 800;

PageJson layers(Graph const& graph, Plan const& plan) {
  constexpr std::pair<Fate, char const*> names[] = {{Fate::keep, "keep"},
                                                    {Fate::recompute, "recompute"},
                                                    {Fate::host, "host"},
                                                    {Fate::nvme, "nvme"}};
  auto const bytes = saved_bytes(graph, plan);
  PageJson json = PageJson::array();
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    if (!graph.blocks[b].layer) continue;
    PageJson of_layer = PageJson::object();
    for (auto const& [fate, name] : names) of_layer[name] = bytes[b][fate];
    json.push_back({{"name", graph.blocks[b].name}, {"activation_bytes", of_layer}});
  }
  return json;
}

std::int64_t state_bytes(Graph const& graph, Chunk const& chunk) {
  std::int64_t bytes = 0;
  for (State const& state : chunk.states) bytes += graph.tensors[state.tensor].bytes();
  return bytes;
}

PageJson chunks(Graph const& graph) {
  PageJson json = PageJson::array();
  for (Chunk const& chunk : graph.chunks) {
    auto const bytes = [&](TensorId tensor) {
      return tensor < 0 ? 0 : graph.tensors[tensor].bytes();
    };
    json.push_back({{"name", chunk.name},
                    {"trainable", chunk.trainable},
                    {"parameter_bytes", bytes(chunk.parameter)},
                    {"gradient_bytes", bytes(chunk.gradient)},
                    {"optimizer_bytes", state_bytes(graph, chunk)}});
  }
  return json;
}

PageJson lanes(PlannedRun const& planned, Simulation const& simulation) {
  auto lanes = lanes_of(longest_step(planned), simulation);
  for (Block const& block : planned.train.blocks) lanes.blocks.push_back(block.name);
  return lanes.to_json(kMostPieces);
}

}  // namespace

std::string plan_record(PlannedRun const& planned, Simulation const& simulation,
                        Budgets const& budgets) {
  auto const& program = longest_step(planned);
  PageJson const json = {{kPlanRecordKey, kPlanRecordForm},
                         {"parameters", planned.train.parameter_count()},
                         {"trained_parameters", planned.train.trained_parameter_count()},
                         {"ranks", program.ranks},
                         {"micro_batches", program.micro_batches},
                         {"predicted_step_s", simulation.step_s},
                         {"predicted_peak_bytes", tiers_json(program.peak_bytes)},
                         {"layers", layers(planned.train, planned.plan)},
                         {"chunks", chunks(planned.train)},
                         {"memory", memory_record(program, simulation, budgets, kMostMoments)},
                         {"lanes", lanes(planned, simulation)}};
  return compact_json(json, kInAscii) + "\n";
}

}  // namespace spillway
