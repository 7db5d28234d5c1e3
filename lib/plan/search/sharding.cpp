#include "plan/search/sharding.hpp"

#include "base/math.hpp"

namespace spillway {

namespace {

void keep_part(ChunkCost& chunk, Shard shard, bool reduces_each) {
  auto const sharers = chunk.sharing.sharers;
  chunk.share = 1 / static_cast<double>(sharers);
  chunk.optimizer_bytes = div_ceil(chunk.optimizer_bytes, sharers);
  chunk.scale_bytes = div_ceil(chunk.scale_bytes, sharers);
  for (auto* const cost : {&chunk.norm, &chunk.update})
    *cost = {divided(cost->compute, sharers), divided(cost->host, sharers)};
  auto const parameter_slice_bytes = div_ceil(chunk.parameter_bytes, sharers);
  if (shard == Shard::all)
    chunk.home_bytes = parameter_slice_bytes;
  else
    chunk.optimizer_bytes += chunk.parameters_beside_bytes = parameter_slice_bytes;
  chunk.gradient_slice_bytes = div_ceil(chunk.gradient.bytes, sharers);
  if (!reduces_each) return;
  chunk.held_gradient_bytes = chunk.gradient_slice_bytes;
  auto& accumulate = chunk.gradient.accumulate;
  accumulate = {divided(accumulate.compute, sharers), divided(accumulate.host, sharers)};
}

// Sets what ranks send: gradients to all ranks, sums of slices to those that keep them, and
// parameters to those that share them out. A rank sends `others(bytes, n)` bytes of what `n` ranks
// bring together.
void send(ChunkCost& chunk, Shard shard) {
  auto const [ranks, sharers] = chunk.sharing;
  auto const copies = chunk.sharing.copies();
  auto const others = [](std::int64_t bytes, std::int64_t n) { return bytes * (n - 1) / n; };
  auto const exchange = [&](GradientCost& gradient) {
    gradient.scatter_sent_bytes = others(gradient.bytes, ranks);
    gradient.gather_sent_bytes = others(gradient.bytes / sharers, copies);
  };
  exchange(chunk.gradient);
  for (PartCost& part : chunk.parts) exchange(part);
  auto const parameters_sent_bytes = others(chunk.parameter_bytes, sharers);
  chunk.update_sent_bytes = shard == Shard::all ? 0 : parameters_sent_bytes;
  chunk.fetch_sent_bytes = shard == Shard::all ? parameters_sent_bytes : 0;
}

}  // namespace

void share_out(BlockModel& model, std::int64_t sharers) {
  auto& shared = model.shared.emplace_back(SharedCosts{sharers, {}}).chunks;
  for (Shard const shard : kShards) {
    shared[shard] = model.chunks;
    for (ChunkCost& chunk : shared[shard]) {
      bool const divides = shard != Shard::none && sharers > 1 && chunk.trainable;
      chunk.sharing = {model.ranks, divides ? sharers : 1};
      if (divides) keep_part(chunk, shard, model.reduces_each);
      send(chunk, divides ? shard : Shard::none);
    }
  }
  model.chunks = shared[Shard::none];
}

}  // namespace spillway
