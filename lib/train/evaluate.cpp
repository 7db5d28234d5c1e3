#include "train/evaluate.hpp"

#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"

namespace spillway {

LossSums evaluate(Engine& engine, std::int64_t batches, Comm& comm, EvalTold const& told) {
  LossSums mine;
  on_all_ranks(comm, [&] {
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      auto const result = engine.run_step(batch);
      mine.loss += result.loss_sum;
      mine.weight += result.weight_sum;
      if (told) told(batch + 1, mine);
    }
    engine.finish();
  });
  LossSums all;
  for (auto const& rank : gathered(comm, mine)) {
    all.loss += rank.loss;
    all.weight += rank.weight;
  }
  return all;
}

}  // namespace spillway
