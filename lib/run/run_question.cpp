#include "run/run_question.hpp"

#include "run/plan_run.hpp"

namespace spillway {

RunGraphs run_graphs(Config const& config, std::int64_t vocab, Target const& target,
                     Choices const& choices) {
  auto const arithmetic = make_arithmetic(config, choices, target.ranks, target.machine.target);
  RunGraphs graphs{training_graph(config, vocab, arithmetic), std::nullopt,
                   batch_shape(config.batch, choices.micro, 0, target.ranks)};
  if (!config.data.valid.empty()) graphs.eval = eval_graph(config, vocab, arithmetic);
  return graphs;
}

PlanQuestion run_question(Config const& config, Target const& target, RunGraphs const& graphs) {
  return {graphs.train,         graphs.eval ? &*graphs.eval : nullptr,
          plan_request(config), target.budgets,
          target.machine,       graphs.shape.most_micro_batches(),
          target.ranks,         graphs.shape.fewer(),
          target.nodes_alike};
}

}  // namespace spillway
