#include "plan/search/refusal.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/math.hpp"
#include "base/units.hpp"
#include "plan/data/budget_key.hpp"
#include "plan/data/program.hpp"

namespace spillway {

namespace {

// Returns a text that names every policy of the layers once.
std::string policies_of(Plan const& plan, Graph const& graph) {
  std::vector<std::string_view> names;
  for (int b = 0; Block const& block : graph.blocks) {
    auto const policy = name(plan.blocks[b++].policy);
    if (block.layer && std::ranges::count(names, policy) == 0) names.push_back(policy);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void check_limits(Graph const& train, std::int64_t micro_batches) {
  if (micro_batches > kMostMicroBatches)
    throw Error(Status::bad_input,
                fmt::format("batch.sequences: {} micro-batches a step are more than {}; give fewer "
                            "sequences or a larger batch.micro",
                            micro_batches, kMostMicroBatches));
  std::int64_t bytes = 0;  // a sum that would overflow is the largest number instead
  for (Tensor const& tensor : train.tensors)
    bytes = clamped_sum(bytes, tensor.versions * tensor.bytes());
  for (Op const& op : train.ops) bytes = clamped_sum(bytes, op.workspace_bytes);
  if (bytes > kMostBytes)
    throw Error(
        Status::bad_input,
        fmt::format("model: its state and one micro-batch take {}, more than the {} that a rank "
                    "may have; give a smaller model, data.sequence or batch.micro",
                    human_bytes(bytes), human_bytes(kMostBytes)));
  // A micro-batch moves each byte of the graph far fewer times than this, counting copies between
  // tiers, messages between ranks, and ops that write the byte again.
  constexpr std::int64_t most_moves = 64;
  if (!product({bytes, micro_batches, most_moves}))
    throw Error(
        Status::bad_input,
        fmt::format("batch.sequences: a step of {} micro-batches of {} moves more than 63 bits "
                    "count; give fewer sequences",
                    micro_batches, human_bytes(bytes)));
}

void check_uneven(Graph const& train, Asked<Shard> const& shard,
                  std::vector<std::int64_t> const& fewer) {
  if (fewer.empty()) return;
  constexpr auto why =
      "ranks meet in every micro-batch, of which batch.share gives them unlike "
      "numbers; give";
  if (train.arithmetic.reduction == Reduction::each)
    throw std::invalid_argument(fmt::format("optim.reduction: each: {} last", why));
  if (std::ranges::count(shard, Shard::all) > 0)
    throw std::invalid_argument(fmt::format("plan.shard: all: {} gradients or auto", why));
}

std::string describe(Need const& need, Graph const& graph, Budgets const& budgets,
                     std::int64_t node_ranks) {
  constexpr std::int64_t mebibyte = 1 << 20;
  auto const missing = missing_bytes(need.peak_bytes, budgets);
  std::vector<std::string> needed;
  for (Tier const tier : {Tier::device, Tier::host, Tier::nvme}) {
    if (missing[tier] == 0) continue;
    needed.push_back(
        fmt::format("{}={}", budget_key(tier), format_bytes_up(need.peak_bytes[tier])));
  }
  if (need.nvme_bytes_per_s > 0) {
    constexpr double mebibyte_s = mebibyte / kDayS;
    auto const node_bytes_per_s = need.nvme_bytes_per_s * static_cast<double>(node_ranks);
    auto const per_day = std::ceil(node_bytes_per_s / mebibyte_s);
    needed.push_back("spill.max_write_per_day=" +
                     format_bytes(clamped_product(clamped_whole(per_day), mebibyte)));
  }
  return fmt::format("needs at least {} (activations: {})", fmt::join(needed, " and "),
                     policies_of(need.plan, graph));
}

}  // namespace spillway
