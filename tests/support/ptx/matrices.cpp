// mma.sync.
#include <algorithm>

#include "tests/support/ptx/exchange.hpp"
#include "tests/support/ptx/float_values.hpp"
#include "tests/support/ptx/rounding.hpp"

namespace spillway::test::ptx {
namespace {

constexpr int kRows = 16, kColumns = 8, kMostDepth = 16;

struct Product {
  double a[kRows][kMostDepth], b[kMostDepth][kColumns];
  bool row_known[kRows], column_known[kColumns];
};

// How the elements of a type lie in registers: so many in one, and of so many columns of A or rows
// of B a lane's first register has its elements.
struct Packing {
  FloatFormat format;
  unsigned per_register, bits;
};
constexpr Packing kBf16Pairs{kBf16, 2, 16}, kF16Pairs{kF16, 2, 16};
constexpr Packing kTf32Single{kTf32, 1, 32};

double element(Packing const& packing, std::uint32_t word, unsigned i) {
  if (packing.per_register == 1) return value_of(word >> 13, packing.format);  // 19 bits count
  return value_of(word >> (16 * i) & 0xffff, packing.format);
}

unsigned registers_of_a(Packing const& packing, unsigned depth) {
  return depth / packing.per_register / 2;
}

// Registers of A go first down, then right; those of B down. A lane is in row (or column) l / 4.
void read_factors(Warp const& warp, Operation const& o, Packing const& packing,
                  unsigned a_registers, Product& product) {
  auto const depth_of_register = 4 * packing.per_register;
  std::ranges::fill(product.row_known, true);
  std::ranges::fill(product.column_known, true);
  for (unsigned n = 0; n < a_registers + a_registers / 2; ++n) {
    bool const is_a = n < a_registers;
    auto const slot = o.list[4 + n];
    auto const* const words = warp.lanes<std::uint32_t const>(slot);
    auto const part = is_a ? n / 2 : n - a_registers;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      auto const line = lane / 4 + (is_a ? n % 2 * 8 : 0);
      auto const depth = part * depth_of_register + lane % 4 * packing.per_register;
      auto& known = is_a ? product.row_known[line] : product.column_known[line];
      known = known && (warp.known[slot] >> lane & 1) != 0;
      for (unsigned i = 0; i < packing.per_register; ++i)
        (is_a ? product.a[line][depth + i] : product.b[depth + i][line]) =
            element(packing, words[lane], i);
    }
  }
}

// NVIDIA does not say in which order and with how many bits a sum is made: here it is exact but for
// the rounding of a double, and rounded to f32 once.
float sum(Product const& product, unsigned row, unsigned column, unsigned depth, float c) {
  double result = 0;
  for (unsigned k = 0; k < depth; ++k) result += product.a[row][k] * product.b[k][column];
  return static_cast<float>(result + c);
}

void mma(Warp& warp, Operation const& o, Lanes mask, Packing const& packing) {
  need_all_lanes(warp, mask);
  auto const depth = static_cast<unsigned>(o.immediate);
  auto const a_registers = registers_of_a(packing, depth);
  Product product;
  read_factors(warp, o, packing, a_registers, product);
  auto const first_c = 4 + a_registers + a_registers / 2;
  for (unsigned n = 0; n < 4; ++n) {
    auto const* const c = warp.lanes<float const>(o.list[first_c + n]);
    alignas(64) float values[kLanes];
    Lanes known = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      auto const row = lane / 4 + n / 2 * 8, column = lane % 4 * 2 + n % 2;
      auto const value = sum(product, row, column, depth, c[lane]);
      values[lane] = canonical(value);
      known |= Lanes{product.row_known[row] && product.column_known[column]} << lane;
    }
    known &= warp.known[o.list[first_c + n]];
    write_lanes(warp, o.list[n], values, kAllLanes);
    warp.set_known(o.list[n], known, kAllLanes);
  }
}
template <Packing const& packing>
void mma_of(Warp& warp, Operation const& o, Lanes mask) {
  mma(warp, o, mask, packing);
}

// The list has the registers of D, A, B and C.
template <Packing const& packing>
void add_product(Table& table, std::string const& shape, std::string const& type, unsigned depth) {
  auto const opcode = "mma." + shape + ".row.col.f32." + type + "." + type + ".f32";
  auto& o = add_for_warp(table, opcode, "h=hhh", mma_of<packing>);
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
