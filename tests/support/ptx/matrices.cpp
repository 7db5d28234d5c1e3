// ldmatrix and mma.sync.
#include <algorithm>
#include <bit>

#include "tests/support/ptx/access.hpp"
#include "tests/support/ptx/lanes.hpp"
#include "tests/support/ptx/rounding.hpp"

namespace spillway::test::ptx {
namespace {

void need_all_lanes(Warp const& warp, Lanes mask) {
  if (mask != kAllLanes) complain(warp, first_lane(mask), "not all lanes of the warp take part");
}

struct Tile {  // of 8 rows of 16 bytes
  std::uint16_t values[8][8];
  bool known[8][8];
};

// Lane 8 k + r has the address of row r of matrix k.
Tile read_tile(Warp& warp, Operation const& o, unsigned matrix) {
  Tile tile;
  for (unsigned row = 0; row < 8; ++row) {
    auto const lane = 8 * matrix + row;
    auto const only = Lanes{1} << lane;
    auto const places = place(warp, address_of(o), only, 16, Touch::read, false);
    std::memcpy(tile.values[row], places.at[lane], 16);
    for (unsigned column = 0; column < 8; ++column)
      tile.known[row][column] = known_lanes(warp, places, only, 2 * column, 2) != 0;
  }
  return tile;
}

// Lane l gets elements 2 (l % 4) and the next of row l / 4, of the transposed matrix if mode says
// so.
void ldmatrix(Warp& warp, Operation const& o, Lanes mask) {
  need_all_lanes(warp, mask);
  for (unsigned matrix = 0; matrix < o.list.size(); ++matrix) {
    auto const tile = read_tile(warp, o, matrix);
    alignas(64) std::uint32_t values[kLanes];
    Lanes known = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      auto const row = lane / 4, column = lane % 4 * 2;
      bool const turned = o.mode != 0;
      auto const low = turned ? tile.values[column][row] : tile.values[row][column];
      auto const high = turned ? tile.values[column + 1][row] : tile.values[row][column + 1];
      values[lane] = static_cast<std::uint32_t>(high) << 16 | low;
      bool const all = turned ? tile.known[column][row] && tile.known[column + 1][row]
                              : tile.known[row][column] && tile.known[row][column + 1];
      known |= Lanes{all} << lane;
    }
    write_lanes(warp, o.list[matrix], values, kAllLanes);
    warp.set_known(o.list[matrix], known, kAllLanes);
  }
}

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
  auto const a_registers = depth / packing.per_register / 2;
  Product product;
  read_factors(warp, o, packing, a_registers, product);
  auto const first_c = 4 + a_registers + a_registers / 2;
  if (o.list.size() != first_c + 4) complain(warp, 0, "another number of registers is needed");
  for (unsigned n = 0; n < 4; ++n) {
    auto const* const c = warp.lanes<float const>(o.list[first_c + n]);
    alignas(64) float values[kLanes];
    Lanes known = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      auto const row = lane / 4 + n / 2 * 8, column = lane % 4 * 2 + n % 2;
      auto const value = sum(product, row, column, depth, c[lane]);
      values[lane] = value == value ? value : std::bit_cast<float>(0x7fffffffu);
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

Operation& add(Table& table, std::string const& opcode, std::string const& operands,
               Execute execute) {
  auto& o = table.add(opcode, operands, execute);
  o.flow = Flow::warp_sync;
  o.members = kOnes;
  o.tracks_known = true;
  o.bytes = 4;
  return o;
}

void add_product(Table& table, std::string const& shape, std::string const& type, unsigned depth,
                 Execute execute) {
  auto const opcode = "mma." + shape + ".row.col.f32." + type + "." + type + ".f32";
  add(table, opcode, "h=hhh", execute).immediate = depth;
}

}  // namespace

void add_matrices(Table& table) {
  for (auto const* const count : {"x1", "x2", "x4"})
    for (bool const is_turned : {false, true})
      for (auto const space : {Space::generic, Space::shared}) {
        auto const opcode = std::string("ldmatrix.m8n8.") + count + (is_turned ? ".trans" : "") +
                            (space == Space::shared ? ".shared" : "") + ".b16";
        auto& o = add(table, opcode, "h=m", ldmatrix);
        o.mode = is_turned ? 1 : 0;
        o.space = space;
      }
  table.ignore("ldmatrix", "sync aligned");
  add_product(table, "m16n8k16", "bf16", 16, mma_of<kBf16Pairs>);
  add_product(table, "m16n8k16", "f16", 16, mma_of<kF16Pairs>);
  add_product(table, "m16n8k8", "bf16", 8, mma_of<kBf16Pairs>);
  add_product(table, "m16n8k8", "f16", 8, mma_of<kF16Pairs>);
  add_product(table, "m16n8k8", "tf32", 8, mma_of<kTf32Single>);
  add_product(table, "m16n8k4", "tf32", 4, mma_of<kTf32Single>);
  table.ignore("mma", "sync aligned");
}

}  // namespace spillway::test::ptx
