// An Arithmetic holds all that decides the bits of a result. It is fixed before step 0 and stored
// in checkpoints. Under equal Arithmetic all Plans, and any restart, give equal bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "config/choices.hpp"
#include "graph/product_choices.hpp"

namespace spillway {

struct Arithmetic {
  std::string build;  // version, compiler, flags
  // Names the instruction set that the kernels chose on this machine, or is `portable` if products
  // and attention are to be plain loops. On a device it names the target of the device's kernels,
  // such as "sm_90" (graph/target.hpp).
  std::string isa;
  Precision precision = Precision::bf16;
  Precision gradients = Precision::fp32, moments = Precision::fp32;
  std::int64_t threads = 1, ranks = 1;
  std::int64_t micro = 1;  // sequences in a micro-batch of one rank
  std::int64_t sequence = 0;
  std::int64_t attention_tile = 256;  // rows of queries, and of keys, in a tile
  std::int64_t loss_chunk = 512;      // how many rows of logits exist at a time
  // How many rows an MLP takes at a time (graph/mlp_tiles.hpp), or 0 if it takes all at once.
  std::int64_t mlp_chunk = 0;
  // Ranks sum their gradients on the last micro-batch of a step, or on each one.
  Reduction reduction = Reduction::last;
  std::vector<std::int64_t> share = {};  // batch.share: how ranks part the micro-batches of a step
  // The algorithms of matrix products on a device. They are found once the graphs of a run are
  // known (run/agreed_products.hpp), and a run that is resumed keeps them.
  ProductChoices products = {};

  bool operator==(Arithmetic const&) const = default;
};

// Returns the element type that a value of Arithmetic's `precision`, `gradients` or `moments`
// stands for.
constexpr DType stored_dtype(Precision precision) {
  return precision == Precision::bf16 ? DType::bf16 : DType::f32;
}

std::string to_json(Arithmetic const& arithmetic);
// Throws Error(damaged) if `text` is not what to_json returns for some Arithmetic.
Arithmetic arithmetic_from_json(std::string const& text);
// Returns a text such as "threads: 2 -> 4, ranks: 1 -> 2", or an empty one if both give equal bits.
std::string describe_difference(Arithmetic const& before, Arithmetic const& now);

}  // namespace spillway
