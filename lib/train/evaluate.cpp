#include "train/evaluate.hpp"

#include <array>

#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"

namespace spillway {

double evaluate(Engine& engine, std::int64_t batches, Comm& comm, EvalTold const& told) {
  std::array<double, 2> mine{};  // loss, weight
  on_all_ranks(comm, [&] {
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      auto const result = engine.run_step(batch);
      mine[0] += result.loss_sum;
      mine[1] += result.weight_sum;
      if (told) told(batch + 1, mine[0] / mine[1]);
    }
    engine.finish();
  });
  double loss = 0, weight = 0;
  for (auto const& rank : gathered(comm, mine)) {
    loss += rank[0];
    weight += rank[1];
  }
  return loss / weight;
}

}  // namespace spillway
