// Reads and writes master weights, whatever types they have in memory.
#pragma once

#include "base/bf16.hpp"
#include "base/check.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/portable/space.hpp"

namespace spillway::SPILLWAY_SPACE {

// An fp32 parameter is its own master.
struct Fp32Masters {
  float* parameter;

  KOKKOS_FUNCTION float load(std::int64_t i) const { return parameter[i]; }
  KOKKOS_FUNCTION void save(std::int64_t i, float master) const { parameter[i] = master; }
};
struct SplitMasters {
  bf16* parameter;
  std::int16_t* remainder;

  KOKKOS_FUNCTION float load(std::int64_t i) const {
    return join_master(parameter[i], remainder[i]);
  }
  KOKKOS_FUNCTION void save(std::int64_t i, float master) const {
    auto const split = split_master(master);
    parameter[i].bits = split.parameter.bits;  // copying the struct would not vectorise
    remainder[i] = split.remainder;
  }
};

inline Fp32Masters masters_of(float* parameter, std::int16_t*) {
  return {parameter};
}
inline SplitMasters masters_of(bf16* parameter, std::int16_t* remainder) {
  return {parameter, remainder};
}

inline void require_remainder(KernelContext const& context, Op const& op, View const& parameter,
                              View const& remainder) {
  check(is_present(remainder) == (dtype(context, parameter) == DType::bf16), name(op.kind),
        "a remainder belongs to bf16 parameters, and to no others");
}

}  // namespace spillway::SPILLWAY_SPACE
