#include "tests/support/random_plan.hpp"

#include "plan/data/plan.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test {

GptShape random_shape(Random& draws) {
  // Models of hidden size 84 have gaps between parameters; those of the other sizes have none.
  constexpr std::int64_t hidden[] = {84, 128, 192};
  auto const h = hidden[below(draws, 3)];
  return {.layers = 1 + below(draws, 6),
          .hidden = h,
          .heads = h == 84 ? 3 : 4,
          .vocab = 257 + below(draws, 600),
          .sequence = 32 + 2 * below(draws, 200),
          .micro = 1 + below(draws, 4),
          .precision = below(draws, 2) == 0 ? Precision::bf16 : Precision::fp32,
          .dropout = below(draws, 3) == 0 ? 0.1 : 0};
}

Plan random_plan(Graph const& graph, Random& draws) {
  Plan plan;
  bool const uniform = below(draws, 2) == 0;  // whether all blocks and chunks are planned alike
  BlockPlan block;
  ChunkPlan places;
  auto const draw_block = [&] {
    block = {static_cast<BlockPolicy>(below(draws, kPolicies)), 1};
    if (below(draws, 3) == 0) block.fraction = below(draws, 101) / 100.0;
  };
  auto const draw_places = [&] {
    places.parameters = static_cast<Tier>(below(draws, 3));
    places.gradients = static_cast<Tier>(below(draws, 3));
    places.optimizer = static_cast<Tier>(below(draws, 3));
    places.update = static_cast<Tier>(below(draws, 2));
  };
  draw_block();
  draw_places();
  for (Block const& b : graph.blocks) {
    plan.blocks.push_back(b.layer ? block : BlockPlan{});
    if (!uniform) draw_block();
  }
  for (std::size_t c = 0; c < graph.chunks.size(); ++c) {
    plan.chunks.push_back(places);
    if (!uniform) draw_places();
  }
  plan.prefetch = below(draws, 4);
  plan.update_slice = 64 * (1 + below(draws, 2000));
  plan.unified = below(draws, 2) == 0;
  plan.redo = below(draws, 2) == 0;
  plan.staging_piece_bytes = std::int64_t{1 + below(draws, 3)} << 20;
  plan.group = 1 + below(draws, 4);
  auto const draw_shard = [&] { return kShards[static_cast<std::size_t>(below(draws, 4))]; };
  auto const shard = draw_shard();
  for (Chunk const& chunk : graph.chunks) {
    auto const drawn = uniform ? shard : draw_shard();
    if (may_share_out(graph, chunk.id)) plan.chunks[chunk.id].shard = drawn;
  }
  std::vector<std::int64_t> sharers;  // numbers of ranks that could be those of a node
  for (std::int64_t n = 2; n < graph.arithmetic.ranks; ++n)
    if (graph.arithmetic.ranks % n == 0) sharers.push_back(n);
  auto const drawn = sharers.empty() ? 0 : below(draws, static_cast<int>(sharers.size()) + 1);
  if (drawn > 0) plan.sharers = sharers[static_cast<std::size_t>(drawn) - 1];
  normalise(graph, plan);
  if (!plan.redo) plan.early = 10 * below(draws, 11);
  return plan;
}

}  // namespace spillway::test
