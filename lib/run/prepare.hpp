// From a checked Config to graphs: what a run computes, before anything is planned.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "graph/arithmetic.hpp"
#include "graph/graph.hpp"
#include "graph/target.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway {

// What `auto` comes to where it decides bits: fixed for the run, taken from the checkpoint on
// resume.
struct Choices {
  std::int64_t threads = 1;    // per rank
  std::int64_t micro = 1;      // sequences per micro-batch and rank
  bool micro_is_free = false;  // neither the Config nor a checkpoint says it: it may change
};

// `checkpoint`: the Arithmetic of the run that is resumed, or null. `cores` are this rank's share.
// An automatic micro-batch has about kMicroRows rows, no more sequences than the rank gets, and
// leaves few of a step's rows empty. Automatic threads keep to `limit`; throws Error(bad_input)
// where the Config asks for more.
Choices choose(Config const& config, Arithmetic const* checkpoint, std::int64_t cores,
               std::int64_t ranks, TeamLimit const& limit = {});
inline constexpr std::int64_t kMicroRows = 4096;

// Returns Arithmetic.isa: what debug.kernels comes to here or, for a device, the target of its
// kernels. No other number of the Arithmetic depends on the target.
std::string kernels_isa(Config const& config, std::string_view target = kHostTarget);
Arithmetic make_arithmetic(Config const& config, Choices const& choices, std::int64_t ranks,
                           std::string_view target = kHostTarget);

// Forward, backward, update and workspaces of one micro-batch. The workspaces are those of the
// target that the Arithmetic was made for.
Graph training_graph(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic);
// Forward and workspaces.
Graph eval_graph(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic);
Graph generate_graph(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                     Decoding const& decoding);

// Says what rounding does to gradients that are summed in bf16 over many micro-batches; empty if
// nothing is summed in bf16, or over few.
std::string warning_of_narrow_sums(OptimConfig const& optim, std::int64_t micro_batches);
inline constexpr std::int64_t kNarrowSums = 64;  // micro-batches that need no warning

}  // namespace spillway
