// ldmatrix.
#include <fmt/format.h>

#include "tests/support/ptx/access.hpp"
#include "tests/support/ptx/exchange.hpp"

namespace spillway::test::ptx {
namespace {

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

}  // namespace

void add_matrix_loads(Table& table) {
  for (std::uint8_t const count : {1, 2, 4})
    for (bool const is_turned : {false, true})
      for (auto const space : {Space::generic, Space::shared}) {
        auto const opcode = fmt::format("ldmatrix.m8n8.x{}", count) + (is_turned ? ".trans" : "") +
                            (space == Space::shared ? ".shared" : "") + ".b16";
        auto& o = add_for_warp(table, opcode, "h=m", ldmatrix);
        o.bytes = 4;
        o.elements = count;
        o.mode = is_turned ? 1 : 0;
        o.space = space;
      }
  table.ignore("ldmatrix", "sync aligned");
}

}  // namespace spillway::test::ptx
