#include "plan/search/limits.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "plan/data/program.hpp"

namespace spillway {

void check_limits(Graph const& train, std::int64_t micro_batches) {
  if (micro_batches > kMostMicroBatches)
    throw Error(Status::bad_input,
                fmt::format("batch.sequences: {} micro-batches a step are more than {}; give fewer "
                            "sequences or a larger batch.micro",
                            micro_batches, kMostMicroBatches));
  std::int64_t bytes = 0;  // there are fewer than 2^31 tensors, each of at most kMostBytes
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

}  // namespace spillway
