// Which files of data.train are trained on, and what is said of the others.
#include "samples/chosen_files.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "samples/same_data.hpp"

namespace spillway::chosen_files_test {
namespace {

KnownFile const kA{"a.h5", 10, "1"}, kB{"b.h5", 10, "2"}, kC{"c.h5", 10, "3"};
KnownFile const kCopyOfB{"copy.h5", 10, "2"}, kLongerB{"b.h5", 11, "2"};
using Positions = std::vector<std::size_t>;
using Lines = std::vector<std::string>;

TEST(ChosenFiles, are_all_but_the_validation_files_in_their_order) {
  auto const chosen = without_valid({kC, kCopyOfB, kA, kC, kB}, {kB});
  EXPECT_EQ(chosen.kept, (Positions{0, 2, 3}));
  EXPECT_EQ(chosen.said, (Lines{"data.train: copy.h5 is data.valid's and is not trained on",
                                "data.train: b.h5 is data.valid's and is not trained on"}));
  EXPECT_EQ(without_valid({kA, kLongerB}, {kB}).kept, (Positions{0, 1}));
  EXPECT_EQ(without_valid({kA, kB}, {}).kept, (Positions{0, 1}));
}

TEST(ChosenFiles, are_refused_where_none_is_left) {
  try {
    without_valid({kB, kCopyOfB}, {kA, kB});
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_STREQ(error.what(),
                 "data.train: b.h5 is data.valid's too, and nothing else is left to train on; name "
                 "other files, or data.valid=none");
  }
}

TEST(ChosenFiles, are_said_where_they_come_twice) {
  EXPECT_EQ(repeated("data.train", {kA, kB, kA, kCopyOfB}),
            (Lines{"data.train: a.h5 comes twice", "data.train: b.h5 comes twice (as copy.h5)"}));
  EXPECT_EQ(repeated("data.train", {kA, kB, kC, kLongerB}), Lines{});
  auto const many = repeated("data.valid", std::vector(9, kA));
  ASSERT_EQ(many.size(), 4u);
  EXPECT_EQ(many[2], "data.valid: a.h5 comes twice");
  EXPECT_EQ(many.back(), "data.valid: and so do 5 more");
  EXPECT_EQ(repeated("data.valid", std::vector(5, kA)), Lines(4, "data.valid: a.h5 comes twice"));
}

TEST(SameFiles, name_the_first_difference_from_rank_0) {
  EXPECT_EQ(files_differ("data.train", {kA, kB}, {kA, kB}), "");
  EXPECT_EQ(files_differ("data.train", {kA, kLongerB}, {kA, kB}),
            "data.train: b.h5 is another file than rank 0's (11 tokens, 10 there)");
  EXPECT_EQ(files_differ("data.train", {kA, kC}, {kA, {"c.h5", 10, "4"}}),
            "data.train: c.h5 is another file than rank 0's (as many tokens, 10, of other text)");
  EXPECT_EQ(files_differ("data.valid", {kA, kC}, {kA, kB}),
            "data.valid: file 2 is c.h5, rank 0's is b.h5");
  EXPECT_EQ(files_differ("data.valid", {kA, kB, kC}, {kA}),
            "data.valid: 3 files, rank 0 has 1: b.h5 is not there");
  EXPECT_EQ(files_differ("data.valid", {kA}, {kA, kB}),
            "data.valid: 1 files, rank 0 has 2: b.h5 is missing here");
}

}  // namespace
}  // namespace spillway::chosen_files_test
