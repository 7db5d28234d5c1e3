#include "train/evaluate.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/math.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"

namespace spillway {

namespace {

// Runs a stage in which ranks gather parameters. A failed transfer is agreed on behind it, since
// all items run. Anything else stops this rank's lanes, so that the others wait for it: it is
// thrown at once, and ends the job.
template <class Stage>
void with_gathers(Comm& comm, Stage const& stage) {
  std::optional<Error> failed;
  try {
    stage();
  } catch (Error const& error) {
    if (error.status() != Status::storage) throw;
    failed = error;
  }
  on_all_ranks(comm, [&] {
    if (failed) throw *failed;
  });
}

}  // namespace

std::int64_t eval_windows(Config const& config, Data const& data) {
  return std::min(config.run.eval_batches * config.batch.sequences,
                  data.valid ? data.valid->windows.count() : 0);
}

std::int64_t eval_batches(Config const& config, Data const& data, BatchShape const& shape) {
  return div_ceil(eval_windows(config, data), shape.micro * shape.ranks);
}

LossSums evaluate(Engine& engine, std::int64_t batches, Comm& comm, EvalTold const& told) {
  LossSums mine;
  auto const run = [&](std::int64_t batch) {
    auto const result = engine.run_step(batch);
    mine.loss += result.loss_sum;
    mine.weight += result.weight_sum;
    if (told) told(batch + 1, mine);
  };
  if (engine.gathers()) {
    for (std::int64_t batch = 0; batch < batches; ++batch) with_gathers(comm, [&] { run(batch); });
    with_gathers(comm, [&] { engine.finish(); });
  } else {
    on_all_ranks(comm, [&] {
      for (std::int64_t batch = 0; batch < batches; ++batch) run(batch);
      engine.finish();
    });
  }
  LossSums all;
  for (auto const& rank : gathered(comm, mine)) {
    all.loss += rank.loss;
    all.weight += rank.weight;
  }
  return all;
}

}  // namespace spillway
