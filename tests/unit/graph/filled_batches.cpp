// What tests fill a batch with keeps the rules of its fields.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "tests/support/batches.hpp"

namespace spillway::test::filled_batches_test {
namespace {

using Rows = std::array<std::int32_t, 12>;

// Samples 1 and 2, of documents of three and of four rows; two rows of the first are padding.
TEST(FilledBatches, count_positions_in_documents_and_none_in_padding) {
  Rows documents{}, positions{};
  fill_documents(documents, 2, 1);
  fill_positions(positions, 2, 1);
  EXPECT_EQ(documents, (Rows{0, 0, 0, 1, -1, -1, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(positions, (Rows{0, 1, 2, 0, 0, 0, 0, 1, 2, 3, 0, 1}));
}

}  // namespace
}  // namespace spillway::test::filled_batches_test
