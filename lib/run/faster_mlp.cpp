#include "run/faster_mlp.hpp"

#include <limits>
#include <stdexcept>

#include "base/error.hpp"
#include "run/run_question.hpp"

namespace spillway {
namespace {

// Returns infinity if nothing fits. Plans are searched in full: where memory is short, which is
// where tiles are of use, estimates take plans for fitting that do not.
double step_s(Config const& config, std::int64_t vocab, Target const& target,
              Choices const& choices) {
  auto const graphs = run_graphs(config, vocab, target, choices);
  auto const solution = solve(run_question(config, target, graphs));
  return solution.chosen ? solution.chosen->step_s : std::numeric_limits<double>::infinity();
}

}  // namespace

std::int64_t faster_mlp_chunk(Config const& config, std::int64_t vocab, Target const& target) {
  constexpr double worthwhile = 0.95;
  auto by_tiles = target.choices;
  by_tiles.mlp_chunk = kMlpRows;
  try {
    auto const whole_s = step_s(config, vocab, target, target.choices);
    return step_s(config, vocab, target, by_tiles) < worthwhile * whole_s ? kMlpRows : 0;
  } catch (std::invalid_argument const& error) {
    throw Error(Status::bad_input, error.what());
  }
}

}  // namespace spillway
