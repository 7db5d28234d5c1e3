#include "train/evaluate.hpp"

#include <array>
#include <span>
#include <vector>

namespace spillway {

double evaluate(Engine& engine, std::int64_t batches, Comm& comm) {
  std::array<double, 2> mine{};  // loss, weight
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    auto const result = engine.run_step(batch);
    mine[0] += result.loss_sum;
    mine[1] += result.weight_sum;
  }
  std::vector<std::array<double, 2>> all(static_cast<std::size_t>(comm.size()));
  comm.all_gather_bytes(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  double loss = 0, weight = 0;
  for (auto const& rank : all) {
    loss += rank[0];
    weight += rank[1];
  }
  return loss / weight;
}

}  // namespace spillway
