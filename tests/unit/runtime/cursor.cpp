// A lane's walk of a Program's order.
#include "runtime/cursor.hpp"

#include <gtest/gtest.h>

#include "plan/data/program.hpp"
#include "tests/support/hand_made.hpp"

namespace spillway::test::cursor_test {
namespace {

// A segment that runs two micro-batches, three times between others of one: numbers go on.
TEST(Cursor, numbers_the_micro_batches_of_a_step) {
  HandMade made(8);
  auto const add = [&](int micro_batch) {
    auto const number = made.item(Lane::comm, {}, {});
    made.program.items[number].micro_batch = micro_batch;
    made.item(Lane::compute, {}, {});
  };
  made.segment("first");
  add(0);
  made.segment("middle");
  made.program.segments.back().micro_batches = 2;
  add(0);
  add(1);
  made.segment("last");
  add(0);
  made.segment("update");
  made.program.segments.back().micro_batches = 0;
  add(-1);
  auto const sequence = segment_sequence(made.program);
  Cursor cursor(made.program, sequence, 1u << index(Lane::comm));
  for (int run = 0; run < 2; ++run) {
    std::vector<std::int64_t> numbers;
    while (cursor.next() != nullptr) {
      numbers.push_back(cursor.micro_batch());
      cursor.pass();
    }
    EXPECT_EQ(numbers, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 7}));
    cursor.next_run();
  }
}

}  // namespace
}  // namespace spillway::test::cursor_test
