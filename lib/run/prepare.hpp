// Makes the graphs of a run from a checked Config, before anything is planned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "graph/arithmetic.hpp"
#include "graph/graph.hpp"
#include "graph/target.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway {

// Choices are the values of keys that are `auto` and decide bits. They are fixed for the run, and a
// run that is resumed takes them from its checkpoint.
struct Choices {
  std::int64_t threads = 1;    // threads of one rank
  std::int64_t micro = 1;      // sequences in a micro-batch of one rank
  bool micro_is_free = false;  // true if neither the Config nor a checkpoint decides `micro`
  std::int64_t mlp_chunk = 0;  // rows that an MLP takes at a time, or 0 for all of them
  bool mlp_is_free = false;    // true if `mlp_chunk` may also be kMlpRows
};

// `checkpoint` is the Arithmetic of the run that is resumed, or null. `cores` is the number of this
// rank's cores. An automatic micro-batch has about kMicroRows rows, no more sequences than the rank
// gets, and leaves few rows of a step empty. An automatic number of threads is at most what `limit`
// allows. Throws Error(bad_input) if the Config asks for more threads than that, or for shares of
// the batch that ranks cannot have.
Choices choose(Config const& config, Arithmetic const* checkpoint, std::int64_t cores,
               std::int64_t ranks, TeamLimit const& limit = {});
inline constexpr std::int64_t kMicroRows = 4096;
// An automatic mlp_chunk is this, if it is not 0. So many rows keep products fast, and sums of
// weights' gradients, which each tile reads and writes, cost them little.
inline constexpr std::int64_t kMlpRows = 4096;
// Shorter sequences never have an automatic mlp_chunk, which would repeat work to save little.
inline constexpr std::int64_t kLongSequence = 16384;

// Returns what to try if nothing fits with `choices`: half the micro-batch if its size is free,
// then MLPs by tiles if these are. Returns nothing if neither is left.
std::optional<Choices> with_less_memory(Choices choices);

// Returns Arithmetic.isa: the instruction set that debug.kernels chooses here or, for a device, the
// target of its kernels. Nothing else in the Arithmetic depends on the target.
std::string kernels_isa(Config const& config, std::string_view target = kHostTarget);
Arithmetic make_arithmetic(Config const& config, Choices const& choices, std::int64_t ranks,
                           std::string_view target = kHostTarget);

// Returns the graph of a micro-batch's forward and backward pass and the update, with workspaces
// for the target that `arithmetic` was made for.
Graph training_graph(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic);
// These functions return graphs of the forward pass alone, with workspaces.
Graph eval_graph(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic);
Graph generate_graph(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                     Decoding const& decoding);

// Returns a warning about rounding if gradients are summed in bf16 over many micro-batches,
// otherwise "".
std::string warning_of_narrow_sums(OptimConfig const& optim, std::int64_t micro_batches);
inline constexpr std::int64_t kNarrowSums = 64;  // micro-batches that need no warning

}  // namespace spillway
