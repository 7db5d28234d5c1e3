#include "plan/search/sharding.hpp"

#include "base/math.hpp"

namespace spillway {

namespace {

void hold_part(ChunkCost& chunk, Shard shard, std::int64_t ranks, bool reduces_each) {
  chunk.share = 1 / static_cast<double>(ranks);
  chunk.optimizer_bytes = div_ceil(chunk.optimizer_bytes, ranks);
  for (auto* const cost : {&chunk.norm, &chunk.update})
    *cost = {divided(cost->compute, ranks), divided(cost->host, ranks)};
  auto const parameter_slice_bytes = div_ceil(chunk.parameter_bytes, ranks);
  if (shard == Shard::all)
    chunk.home_bytes = parameter_slice_bytes;
  else
    chunk.optimizer_bytes += chunk.parameters_beside_bytes = parameter_slice_bytes;
  chunk.gradient_slice_bytes = div_ceil(chunk.gradient.bytes, ranks);
  if (!reduces_each) return;
  chunk.held_gradient_bytes = chunk.gradient_slice_bytes;
  auto& accumulate = chunk.gradient.accumulate;
  accumulate = {divided(accumulate.compute, ranks), divided(accumulate.host, ranks)};
}

// Sets what ranks send. A rank sends `others(bytes)` bytes of a tensor to scatter or to gather it.
void send(ChunkCost& chunk, Shard shard, std::int64_t ranks) {
  auto const others = [&](std::int64_t bytes) { return bytes * (ranks - 1) / ranks; };
  bool const gathers = shard == Shard::none;
  auto const exchange = [&](GradientCost& gradient) {
    gradient.scatter_sent_bytes = others(gradient.bytes);
    gradient.gather_sent_bytes = gathers ? gradient.scatter_sent_bytes : 0;
  };
  exchange(chunk.gradient);
  for (PartCost& part : chunk.parts) exchange(part);
  bool const gathers_update = shard != Shard::none && shard != Shard::all;
  chunk.update_sent_bytes = gathers_update ? others(chunk.parameter_bytes) : 0;
  chunk.fetch_sent_bytes = shard == Shard::all ? others(chunk.parameter_bytes) : 0;
}

}  // namespace

void share_out(BlockModel& model) {
  for (Shard const shard : kShards) {
    auto& chunks = model.shared[shard] = model.chunks;
    for (ChunkCost& chunk : chunks) {
      bool const divides = shard != Shard::none && model.ranks > 1 && chunk.trainable;
      if (divides) hold_part(chunk, shard, model.ranks, model.reduces_each);
      send(chunk, divides ? shard : Shard::none, model.ranks);
    }
  }
  model.chunks = model.shared[Shard::none];
}

}  // namespace spillway
