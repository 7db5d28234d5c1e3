// Implements ldmatrix, which spreads matrices of 8 by 8 elements from shared memory over the lanes
// of a warp.
#include <fmt/format.h>

#include "tests/support/ptx/access.hpp"
#include "tests/support/ptx/exchange.hpp"

namespace spillway::test::ptx {
namespace {

// Holds the rows of all matrices, of 16 bytes each. Lane 8 k + r points at row r of matrix k.
struct Rows {
  std::uint16_t values[kLanes][8];
  Lanes known[8];  // has a bit for each row, column by column
  bool is_known(unsigned row, unsigned column) const { return (known[column] >> row & 1) != 0; }
};

Rows read_rows(Warp& warp, Operation const& o) {
  Rows rows;
  auto const lanes = kAllLanes >> (kLanes - 8 * o.elements);
  auto const places = place(warp, address_of(o), lanes, 16, Touch::read, false);
  for_each_lane(lanes, [&](unsigned lane) { std::memcpy(rows.values[lane], places.at[lane], 16); });
  for (unsigned column = 0; column < 8; ++column)
    rows.known[column] = known_lanes(warp, places, lanes, 2 * column, 2);
  return rows;
}

// Lane l gets two elements, from number 2 (l % 4) on, of row l / 4. If the mode is not 0, the
// matrix is transposed.
void ldmatrix(Warp& warp, Operation const& o, Lanes mask) {
  need_all_lanes(warp, mask);
  auto const rows = read_rows(warp, o);
  bool const is_turned = o.mode != 0;
  for (unsigned matrix = 0; matrix < o.elements; ++matrix) {
    alignas(64) std::uint32_t values[kLanes];
    Lanes known = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      auto const along = lane / 4, pair = lane % 4 * 2;
      auto const row = 8 * matrix + (is_turned ? pair : along);
      auto const column = is_turned ? along : pair;
      auto const next_row = row + (is_turned ? 1 : 0), next_column = column + (is_turned ? 0 : 1);
      values[lane] = static_cast<std::uint32_t>(rows.values[next_row][next_column]) << 16 |
                     rows.values[row][column];
      bool const both = rows.is_known(row, column) && rows.is_known(next_row, next_column);
      known |= Lanes{both} << lane;
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
