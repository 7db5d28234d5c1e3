#include "run/fastest_micro.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/error.hpp"
#include "plan/search/solve.hpp"
#include "run/plan_run.hpp"
#include "samples/batch_shape.hpp"

namespace spillway {

std::int64_t fastest_micro(Config const& config, std::int64_t vocab, Target const& target) {
  double const worthwhile = target.machine.op_s.empty() ? 0.99 : 0.95;
  auto const& choices = target.choices;
  auto const ranks = target.ranks;
  auto const most = largest_micro(config.batch, ranks);
  if (most == 1) return choices.micro;
  auto const look = [&](std::int64_t micro) {
    auto const arithmetic =
        make_arithmetic(config, {choices.threads, micro}, ranks, target.machine.target);
    auto const graph = training_graph(config, vocab, arithmetic);
    auto const shape = batch_shape(config.batch, micro, 0, ranks);
    PlanQuestion const question{graph,          nullptr,        plan_request(config),
                                target.budgets, target.machine, shape.most_micro_batches(),
                                ranks,          shape.fewer(),  target.nodes_alike};
    auto result = outlook(question);
    // Estimates of steps with many micro-batches are too rough to choose how many there shall be.
    result.step_s = result.fits ? simulated_step_s(question, result.plan)
                                : std::numeric_limits<double>::infinity();
    return result;
  };
  try {
    auto best = choices.micro;
    auto now = look(best);
    // A device multiplies large matrices at a higher rate. What cores work on leaves their caches.
    bool const gains_by_size = !target.machine.is_unified();
    for (bool const larger : {false, true}) {
      bool const went_down = larger && best != choices.micro;
      while (!went_down && (!now.as_asked || (larger && gains_by_size))) {
        auto const limit = larger ? std::min(2 * best, most) : best / 2;
        if (limit < 1) break;
        auto const next = fullest_micro(config.batch, ranks, limit);
        if (next == best) break;
        auto const other = look(next);
        bool const may_fit_yet = !now.fits && !larger;
        if (other.step_s >= worthwhile * now.step_s && !may_fit_yet) break;
        best = next;
        now = other;
      }
    }
    return now.fits ? best : choices.micro;
  } catch (std::invalid_argument const& error) {
    throw Error(Status::bad_input, error.what());
  }
}

}  // namespace spillway
