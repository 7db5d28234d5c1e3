#include "plan/data/plan.hpp"

#include <fmt/core.h>

#include <bit>
#include <stdexcept>

namespace spillway {

namespace {

constexpr char kEntry[] = "  - {:<11} # {}\n";  // a value and what it is for

BlockPlan normal(Block const& block, bool is_last_layer, BlockPlan plan) {
  if (!block.layer) return {};
  if (is_last_layer) return staying(plan);
  if (!away_tier(plan.policy)) plan.fraction = 1;
  return plan;
}

// Returns a hash of a value and of what came before it, whose hash is `hash` (MurmurHash64A).
std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  constexpr std::uint64_t factor = 0xc6a4a7935bd1e995;
  value *= factor;
  value ^= value >> 47;
  return (hash ^ value * factor) * factor;
}

bool has_parts(Graph const& graph, int chunk) {
  return std::ranges::count(graph.parts, chunk, &GradientPart::chunk) > 0;
}

}  // namespace

// The names of all members stand here, so that none is forgotten.
std::uint64_t hash_of(Plan const& plan) {
  auto const& [blocks, chunks, prefetch, group, sharers, slice, piece_bytes, unified, redo, early,
               overlap] = plan;
  std::uint64_t hash = 0;
  for (BlockPlan const& block : blocks) {
    hash = mixed(hash, index(block.policy));
    hash = mixed(hash, std::bit_cast<std::uint64_t>(block.fraction));
  }
  for (ChunkPlan const& chunk : chunks) {
    auto const& [parameters, gradients, optimizer, update, shard] = chunk;
    auto all = static_cast<std::uint64_t>(shard);
    for (Tier const tier : {parameters, gradients, optimizer, update}) all = 4 * all + index(tier);
    hash = mixed(hash, all);
  }
  for (auto const number : {std::int64_t{prefetch}, group, sharers, slice, piece_bytes, early})
    hash = mixed(hash, static_cast<std::uint64_t>(number));
  return mixed(hash, (overlap ? 4 : 0) + (unified ? 2 : 0) + (redo ? 1 : 0));
}

bool fetches_parameters(ChunkPlan const& chunk) {
  return chunk.parameters != Tier::device || chunk.shard == Shard::all;
}
bool fetches_parameters(Plan const& plan) {
  return std::ranges::any_of(plan.chunks,
                             [](ChunkPlan const& chunk) { return fetches_parameters(chunk); });
}

bool updates_come_last(Plan const& plan, bool norm_is_awaited) {
  auto const on_host = [](ChunkPlan const& chunk) { return chunk.update == Tier::host; };
  return norm_is_awaited || std::ranges::none_of(plan.chunks, on_host);
}

bool may_share_out(Graph const& graph, int chunk) {
  if (graph.chunks[chunk].is_updated_whole()) return false;
  return graph.arithmetic.reduction != Reduction::each || !has_parts(graph, chunk);
}

bool may_sum_on_drive(Graph const& graph, int chunk) {
  return graph.arithmetic.reduction != Reduction::each && !has_parts(graph, chunk);
}

void normalise(Graph const& graph, Plan& plan) {
  bool is_last_layer = true;
  for (auto b = graph.blocks.size(); b-- > 0;) {
    plan.blocks[b] = normal(graph.blocks[b], is_last_layer, plan.blocks[b]);
    is_last_layer = is_last_layer && !graph.blocks[b].layer;
  }
  for (int c = 0; c < std::ssize(plan.chunks); ++c) {
    auto& places = plan.chunks[c];
    if (!graph.chunks[c].trainable) places.shard = Shard::none;
    if (places.gradients == Tier::nvme && !may_sum_on_drive(graph, c))
      places.gradients = Tier::device;
  }
}

std::int64_t sharers_of(Plan const& plan, std::int64_t ranks) {
  return plan.sharers == 0 ? ranks : plan.sharers;
}

Plan for_ranks(Plan plan, std::int64_t ranks) {
  if (plan.sharers >= ranks) plan.sharers = 0;
  auto const sharers = sharers_of(plan, ranks);
  if (ranks % sharers != 0) {
    throw std::logic_error(
        fmt::format("plan: {} ranks are not nodes of {} ranks each", ranks, sharers));
  }
  for (ChunkPlan& chunk : plan.chunks) {
    if (sharers == 1) chunk.shard = Shard::none;
  }
  return plan;
}

std::optional<ShardRanks> shard_ranks(Plan const& plan) {
  auto const is_shared = [](ChunkPlan const& chunk) { return chunk.shard != Shard::none; };
  if (std::ranges::none_of(plan.chunks, is_shared)) return {};
  return plan.sharers == 0 ? ShardRanks::all : ShardRanks::node;
}

bool is_normal(Graph const& graph, Plan const& plan) {
  auto same = plan;
  normalise(graph, same);
  return same == plan;
}

std::string to_yaml(Plan const& plan, Graph const& graph) {
  std::string text = "activations:\n";
  for (int b = 0; Block const& block : graph.blocks) {
    BlockPlan const& planned = plan.blocks[b++];
    if (block.layer) text += fmt::format(kEntry, to_text(planned), block.name);
  }
  for (PlaceRow const& row : kPlaceTable) {
    text += fmt::format("{}:\n", row.name);
    for (Chunk const& chunk : graph.chunks)
      text += fmt::format(kEntry, name(plan.chunks[chunk.id].*row.place), chunk.name);
  }
  text += "shard:\n";
  for (Chunk const& chunk : graph.chunks)
    text += fmt::format(kEntry, word(plan.chunks[chunk.id].shard), chunk.name);
  if (auto const which = shard_ranks(plan)) text += fmt::format("shard_ranks: {}\n", word(*which));
  if (!plan.redo) text += fmt::format("early: {}\n", plan.early);
  return text + fmt::format("prefetch: {}\ngroup: {}\n", plan.prefetch, plan.group);
}

}  // namespace spillway
