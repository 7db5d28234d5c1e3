// When a part of a buffer is away, to the item and to the byte.
#include "plan/memory/lifetime.hpp"

#include <gtest/gtest.h>

namespace spillway::test::lifetime_test {
namespace {

constexpr std::int64_t kPiece = 1 << 20, kBytes = 4 * kPiece;

// A step whose activation is written, read, and reloaded in two pieces before its last reader.
class ReloadedInPieces : public ::testing::Test {
 protected:
  ReloadedInPieces() {
    Tensor tensor;
    tensor.role = Role::activation;
    m_program.tensors.push_back(std::move(tensor));
    Buffer buffer;
    buffer.id = 0;
    buffer.tensor = 0;
    buffer.bytes = kBytes;
    m_program.buffers.push_back(std::move(buffer));
  }

  Item& add(ItemKind kind) {
    Item item;
    item.number = static_cast<ItemNumber>(m_program.items.size());
    item.kind = kind;
    m_program.items.push_back(std::move(item));
    return m_program.items.back();
  }
  void write(ItemKind kind, std::int64_t first, std::int64_t last) {
    add(kind).writes.push_back({0, first, last, {}});
  }
  void read() { add(ItemKind::op).reads.push_back({0, 0, kBytes, {}}); }
  // The items of the step at which byte `at` of the buffer is alive.
  std::vector<ItemNumber> alive(std::int64_t at) const {
    std::vector<ItemNumber> result;
    auto const alive = lifetimes(m_program);
    for (Stay const& stay : alive[0]) {
      if (at < stay.first_byte || at >= stay.last_byte) continue;
      for (auto item = stay.first; item <= stay.last; ++item) result.push_back(item);
    }
    return result;
  }

  Program m_program;
};

TEST_F(ReloadedInPieces, is_away_from_its_last_use_to_the_first_piece_and_no_longer) {
  write(ItemKind::op, 0, kBytes);                 // 0
  read();                                         // 1
  add(ItemKind::op);                              // 2
  add(ItemKind::op);                              // 3
  write(ItemKind::copy, kPiece, 2 * kPiece);      // 4
  write(ItemKind::copy, 2 * kPiece, 3 * kPiece);  // 5
  read();                                         // 6
  using Items = std::vector<ItemNumber>;
  Items const away = {0, 1, 4, 5, 6}, stays = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(alive(0), stays);
  EXPECT_EQ(alive(kPiece - 1), stays);
  EXPECT_EQ(alive(kPiece), away);
  EXPECT_EQ(alive(2 * kPiece), away);  // the second piece
  EXPECT_EQ(alive(3 * kPiece - 1), away);
  EXPECT_EQ(alive(3 * kPiece), stays);
}

// What is written before anybody has read it is no reload.
TEST_F(ReloadedInPieces, is_not_away_between_the_writes_that_make_it) {
  write(ItemKind::copy, 0, kPiece);
  add(ItemKind::op);
  write(ItemKind::copy, kPiece, kBytes);
  read();
  EXPECT_EQ(alive(0), (std::vector<ItemNumber>{0, 1, 2, 3}));
  EXPECT_EQ(alive(kPiece), alive(0));
}

}  // namespace
}  // namespace spillway::test::lifetime_test
