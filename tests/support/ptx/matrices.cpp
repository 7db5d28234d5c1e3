// Implements mma.sync, by which a warp multiplies matrices whose elements its lanes hold.
#include <algorithm>
#include <bit>

#include "base/bf16.hpp"
#include "base/f16.hpp"
#include "tests/support/ptx/exchange.hpp"
#include "tests/support/ptx/float_values.hpp"

namespace spillway::test::ptx {
namespace {

constexpr unsigned kRows = 16, kColumns = 8, kMostDepth = 16;

struct Factors {
  double a[kRows][kMostDepth], b[kMostDepth][kColumns];
  bool row_known[kRows], column_known[kColumns];
};

// A Packing says how elements of a type lie in a register.
struct Packing {
  unsigned per_register;
  float (*element)(std::uint32_t word, unsigned i);
};
float bf16_of(std::uint32_t word, unsigned i) {
  return to_float(bf16{static_cast<std::uint16_t>(word >> (16 * i))});
}
float f16_of(std::uint32_t word, unsigned i) {
  return to_float(f16{static_cast<std::uint16_t>(word >> (16 * i))});
}
float tf32_of(std::uint32_t word, unsigned /*i*/) {  // drops the bits of f32 that tf32 lacks
  return std::bit_cast<float>(word & ~0x1fffu);
}
constexpr Packing kBf16Pairs{2, bf16_of}, kF16Pairs{2, f16_of}, kTf32Single{1, tf32_of};

constexpr unsigned registers_of_a(Packing const& packing, unsigned depth) {
  return depth / packing.per_register / 2;
}

// An Entry says which elements of A or B a lane has in one register. Registers of A go first down,
// then right, those of B down. Lane l is in row (or column) l / 4.
struct Entry {
  bool is_a;
  unsigned line, depth;
};
template <Packing const& packing>
Entry entry_of(unsigned n, unsigned lane, unsigned a_registers) {
  bool const is_a = n < a_registers;
  auto const part = is_a ? n / 2 : n - a_registers;
  return {is_a, lane / 4 + (is_a ? n % 2 * 8 : 0), (4 * part + lane % 4) * packing.per_register};
}

template <Packing const& packing>
void read_known(Warp const& warp, Operation const& o, unsigned a_registers, Factors& factors) {
  std::ranges::fill(factors.row_known, true);
  std::ranges::fill(factors.column_known, true);
  for (unsigned n = 0; n < a_registers + a_registers / 2; ++n)
    for_each_lane(~warp.known[o.list[4 + n]], [&](unsigned lane) {
      auto const entry = entry_of<packing>(n, lane, a_registers);
      (entry.is_a ? factors.row_known : factors.column_known)[entry.line] = false;
    });
}

template <Packing const& packing>
void read_factors(Warp const& warp, Operation const& o, unsigned a_registers, Factors& factors) {
  read_known<packing>(warp, o, a_registers, factors);
  for (unsigned n = 0; n < a_registers + a_registers / 2; ++n) {
    auto const* const words = warp.lanes<std::uint32_t const>(o.list[4 + n]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      auto const [is_a, line, depth] = entry_of<packing>(n, lane, a_registers);
      for (unsigned i = 0; i < packing.per_register; ++i)
        (is_a ? factors.a[line][depth + i] : factors.b[depth + i][line]) =
            packing.element(words[lane], i);
    }
  }
}

using Sums = double[kRows][kColumns];

// NVIDIA does not say in which order and with how many bits it adds. Here sums are made in double
// and rounded to f32 once, so compare them with a tolerance.
void sum(Factors const& factors, unsigned depth, Sums& sums) {
  for (unsigned row = 0; row < kRows; ++row) {
    alignas(64) double line[kColumns] = {};
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned column = 0; column < kColumns; ++column)
        line[column] += factors.a[row][k] * factors.b[k][column];
    std::ranges::copy(line, sums[row]);
  }
}

// A lane has one element of C and D in each register n: registers 0 and 1 are of the upper eight
// rows, 2 and 3 of the lower ones. A register of D may be one of C, so all of C is read first.
void write_sums(Warp& warp, Operation const& o, unsigned first_c, Factors const& factors,
                Sums const& sums) {
  alignas(64) float values[4][kLanes];
  Lanes known[4] = {};
  for (unsigned n = 0; n < 4; ++n) {
    auto const slot = o.list[first_c + n];
    auto const* const c = warp.lanes<float const>(slot);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      auto const row = lane / 4 + n / 2 * 8, column = lane % 4 * 2 + n % 2;
      values[n][lane] = canonical(static_cast<float>(sums[row][column] + c[lane]));
      known[n] |= Lanes{factors.row_known[row] && factors.column_known[column]} << lane;
    }
    known[n] &= warp.known[slot];
  }
  for (unsigned n = 0; n < 4; ++n) {
    write_lanes(warp, o.list[n], values[n], kAllLanes);
    warp.set_known(o.list[n], known[n], kAllLanes);
  }
}

template <Packing const& packing>
void mma(Warp& warp, Operation const& o, Lanes mask) {
  need_all_lanes(warp, mask);
  auto const depth = static_cast<unsigned>(o.immediate);
  auto const of_a = registers_of_a(packing, depth);
  Factors factors;
  read_factors<packing>(warp, o, of_a, factors);
  Sums sums;
  sum(factors, depth, sums);
  write_sums(warp, o, 4 + of_a + of_a / 2, factors, sums);
}

// An Operation's list has the registers of D, A, B and C, one after the other.
template <Packing const& packing>
void add_product(Table& table, std::string const& shape, std::string const& type, unsigned depth) {
  auto const opcode = "mma." + shape + ".row.col.f32." + type + "." + type + ".f32";
  auto& o = add_for_warp(table, opcode, "h=hhh", mma<packing>);
  o.bytes = 4;
  o.immediate = depth;
  auto const of_a = registers_of_a(packing, depth);
  o.elements = static_cast<std::uint8_t>(4 + of_a + of_a / 2 + 4);
}

}  // namespace

void add_matrices(Table& table) {
  add_product<kBf16Pairs>(table, "m16n8k16", "bf16", 16);
  add_product<kF16Pairs>(table, "m16n8k16", "f16", 16);
  add_product<kBf16Pairs>(table, "m16n8k8", "bf16", 8);
  add_product<kF16Pairs>(table, "m16n8k8", "f16", 8);
  add_product<kTf32Single>(table, "m16n8k8", "tf32", 8);
  add_product<kTf32Single>(table, "m16n8k4", "tf32", 4);
  table.ignore("mma", "sync aligned");
}

}  // namespace spillway::test::ptx
