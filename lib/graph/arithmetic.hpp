// Everything that decides the bits of a result, fixed before step 0 and stored in checkpoints.
// Under equal Arithmetic all Plans, and any restart, give equal bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/dtype.hpp"

namespace spillway {

struct Arithmetic {
  std::string build;  // version, compiler, flags
  // What the kernels chose on this machine, or `portable`, which makes products and attention plain
  // loops. On a device it is the target of the kernels there, such as "sm_90" (graph/target.hpp).
  std::string isa;
  std::string precision = "bf16";  // bf16 | fp32
  std::string gradients = "fp32", moments = "fp32";
  std::int64_t threads = 1, ranks = 1;
  std::int64_t micro = 1;  // sequences per micro-batch and rank
  std::int64_t sequence = 0;
  std::int64_t attention_tile = 256;  // rows of q and of k per tile
  std::int64_t loss_chunk = 512;      // rows of logits that exist at a time
  // Gradients are summed over ranks on the last micro-batch of a step, or on each one.
  std::string reduction = "last";  // last | each

  bool operator==(Arithmetic const&) const = default;
};

// What the words of `precision`, `gradients` and `moments` stand for.
constexpr DType stored_dtype(std::string_view word) {
  return word == "bf16" ? DType::bf16 : DType::f32;
}

std::string to_json(Arithmetic const& arithmetic);
Arithmetic arithmetic_from_json(std::string const& text);
// "threads: 2 -> 4, ranks: 1 -> 2"; empty when equal.
std::string describe_difference(Arithmetic const& before, Arithmetic const& now);

}  // namespace spillway
