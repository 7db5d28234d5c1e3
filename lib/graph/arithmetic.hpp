// An Arithmetic holds all that decides the bits of a result. It is fixed before step 0 and stored
// in checkpoints. Under equal Arithmetic all Plans, and any restart, give equal bits.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.hpp"
#include "config/choices.hpp"

namespace spillway {

struct Arithmetic {
  std::string build;  // version, compiler, flags
  // The instruction set that the kernels chose on this machine, or `portable`, for which products
  // and attention are plain loops. On a device it is the target of the kernels there, such as
  // "sm_90" (graph/target.hpp).
  std::string isa;
  Precision precision = Precision::bf16;
  Precision gradients = Precision::fp32, moments = Precision::fp32;
  std::int64_t threads = 1, ranks = 1;
  std::int64_t micro = 1;  // sequences per micro-batch and rank
  std::int64_t sequence = 0;
  std::int64_t attention_tile = 256;  // rows of q and of k per tile
  std::int64_t loss_chunk = 512;      // rows of logits that exist at a time
  // Ranks sum their gradients on the last micro-batch of a step, or on each one.
  Reduction reduction = Reduction::last;

  bool operator==(Arithmetic const&) const = default;
};

// Returns the type that `precision`, `gradients` or `moments` stands for.
constexpr DType stored_dtype(Precision precision) {
  return precision == Precision::bf16 ? DType::bf16 : DType::f32;
}

std::string to_json(Arithmetic const& arithmetic);
Arithmetic arithmetic_from_json(std::string const& text);
// Returns a text such as "threads: 2 -> 4, ranks: 1 -> 2", or an empty one if both are equal.
std::string describe_difference(Arithmetic const& before, Arithmetic const& now);

}  // namespace spillway
