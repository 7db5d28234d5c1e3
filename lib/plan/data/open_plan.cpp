#include "plan/data/open_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "base/math.hpp"
#include "plan/data/program.hpp"

namespace spillway {

namespace {

template <class T>
std::optional<T> entry(Asked<T> const& list, int i) {
  return list[std::min<std::size_t>(i, list.size() - 1)];
}

template <class T>
void refuse_length(Asked<T> const& list, std::string_view key, std::int64_t most,
                   char const* what) {
  if (list.empty()) throw std::invalid_argument(fmt::format("plan.{}: an empty list", key));
  if (std::ssize(list) <= most) return;
  throw std::invalid_argument(
      fmt::format("plan.{}: a list of {} for {} {}", key, list.size(), most, what));
}

ChunkPlan chunk_plan(PlanRequest const& request, int chunk) {
  ChunkPlan plan;
  for (PlaceRow const& row : kPlaceTable) {
    bool const away = row.place == &ChunkPlan::update && plan.optimizer != Tier::device;
    plan.*row.place = entry(request.*row.asked, chunk).value_or(away ? Tier::host : Tier::device);
  }
  plan.shard = entry(request.shard, chunk).value_or(Shard::none);
  return plan;
}

// Returns a size of slices, a multiple of `unit`, that cuts the largest tensor into `few` to `many`
// slices and all tensors into about 1024 at most, because more slices take longer to plan.
std::int64_t slice(std::int64_t largest, std::int64_t all, std::int64_t few, std::int64_t many,
                   std::int64_t usual, std::int64_t unit) {
  auto const part = [&](std::int64_t amount, std::int64_t parts) {
    return round_up(div_ceil(std::max<std::int64_t>(1, amount), parts), unit);
  };
  auto const most = part(largest, few), least = std::max(part(largest, many), part(all, 1024));
  return std::clamp(usual, std::min(least, most), most);
}

std::int64_t update_slice(Graph const& graph) {
  std::int64_t largest = 0, all = 0;
  auto least_bytes = size_bytes(DType::bf16);
  for (Chunk const& chunk : graph.chunks) {
    largest = std::max(largest, chunk.elements);
    all += chunk.elements;
    for (State const& state : chunk.states)
      least_bytes = std::min(least_bytes, size_bytes(graph.tensors[state.tensor].dtype));
  }
  // So many elements fill whole pieces of the spill file, whatever is stored of them.
  return slice(largest, all, 4, 20, std::int64_t{4} << 20, kPieceBytes / least_bytes);
}

std::int64_t staging_piece_bytes(Graph const& graph, std::int64_t update_slice) {
  auto largest = update_slice * size_bytes(DType::f32);
  std::int64_t all = 0;
  for (Tensor const& tensor : graph.tensors) {
    if (!tensor.is_activation() && tensor.role != Role::parameter) continue;
    largest = std::max(largest, tensor.bytes());
    all += tensor.bytes();
  }
  return slice(largest, all, 1, 4, std::int64_t{16} << 20, kPieceBytes);
}

}  // namespace

Plan make_plan(Graph const& graph, PlanRequest const& request, BlockPolicy automatic) {
  auto const layers = std::ranges::count_if(graph.blocks, &Block::layer);
  refuse_length(request.activations, "activations", layers, "layers");
  for (PlaceRow const& row : kPlaceTable)
    refuse_length(request.*row.asked, row.name, std::ssize(graph.chunks), "chunks");
  refuse_length(request.shard, "shard", std::ssize(graph.chunks), "chunks");
  Plan plan;
  plan.prefetch = static_cast<int>(request.prefetch.value_or(kShortestPrefetch));
  plan.group = request.group.value_or(1);
  plan.update_slice = update_slice(graph);
  plan.staging_piece_bytes = staging_piece_bytes(graph, plan.update_slice);
  for (int layer = 0; Block const& block : graph.blocks) {
    auto const asked = block.layer ? entry(request.activations, layer++) : BlockPlan{};
    plan.blocks.push_back(asked.value_or(BlockPlan{automatic, 1}));
  }
  for (Chunk const& chunk : graph.chunks) plan.chunks.push_back(chunk_plan(request, chunk.id));
  plan.redo = updates_come_last(plan, request.norm_is_awaited);
  plan.early = plan.redo ? 100 : request.early.value_or(100);
  normalise(graph, plan);
  return plan;
}

OpenPlan open_plan(Graph const& graph, PlanRequest const& request, bool unified) {
  OpenPlan open{make_plan(graph, request), {},           {}, !request.prefetch, !request.group,
                request.norm_is_awaited,   request.early};
  open.plan.unified = unified;
  for (int layer = 0; Block const& block : graph.blocks)
    open.layers.push_back(block.layer && !entry(request.activations, layer++));
  auto const is_open = [](auto const& asked, int chunk) { return !entry(asked, chunk); };
  for (Chunk const& chunk : graph.chunks)
    open.chunks.push_back(
        {is_open(request.parameters, chunk.id), is_open(request.gradients, chunk.id),
         is_open(request.optimizer, chunk.id), is_open(request.update, chunk.id),
         chunk.trainable && is_open(request.shard, chunk.id) && may_share_out(graph, chunk.id)});
  return open;
}

}  // namespace spillway
