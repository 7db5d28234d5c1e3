// What is said of data that changed, and what a checkpoint keeps of them, word for word.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "samples/sample_order.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::sample_order_texts_test {
namespace {

using Lines = std::vector<std::string>;

KnownFile file(std::string const& name, std::int64_t tokens) {
  return {"here/" + name, tokens, name};
}
KnownFile const kA = file("a", 41), kB = file("b", 20), kC = file("c", 33);

DataNow now(std::vector<KnownFile> files, std::int64_t window = 4, std::string cut = "") {
  auto const count = [](std::vector<KnownFile> const& some) { return 3 * std::ssize(some); };
  return {std::move(files), window, 7, std::move(cut), count};
}

Lines said(DataNow const& before, std::int64_t samples, DataNow const& after, bool anew = false) {
  return continued(begun(before), samples, after, anew).said;
}

std::string refusal(DataNow const& before, DataNow const& after) {
  return test::refused_with([&] { said(before, 7, after); });
}

TEST(SampleOrderTexts, tell_of_files_that_came_went_and_moved) {
  EXPECT_EQ(said(now({kA, kB}), 7, now({kC, kA, kB})),
            (Lines{"data.train: here/c (33 tokens) is new",
                   "the epoch under way is completed first, no text twice, and the data as they "
                   "are now begin after sample 23; data.changed=anew begins with them at once"}));
  EXPECT_EQ(said(now({kA, kB}), 7, now({kA}), true),
            (Lines{"data.train: here/b (20 tokens) is there no more",
                   "the data as they are now begin an epoch here, after sample 7; of the epoch "
                   "that ends here some text may come again, and some has not come"}));
  EXPECT_EQ(said(now({kA, kB}), 30, now({kA, kB, kB})),
            (Lines{"data.train: here/b (20 tokens) is new",
                   "the data as they are now begin an epoch here, after sample 30"}));
  EXPECT_EQ(said(now({kA, kB}), 30, now({kB, kA}))[0],
            "data.train: the files are in another order");
  EXPECT_EQ(
      said(now({kA}), 10, now({file("f", 5), file("g", 6), file("h", 7), file("i", 8), kA}))[0],
      "data.train: here/f (5 tokens), here/g (6 tokens), here/h (7 tokens) and 1 more are new");
  EXPECT_EQ(said(now({kA, kB, kC}), 30, now({kC}), true)[0],
            "data.train: here/a (41 tokens), here/b (20 tokens) are there no more");
}

TEST(SampleOrderTexts, tell_which_keys_change_windows) {
  EXPECT_EQ(said(now({kA}), 3, now({kA}, 6), true)[0],
            "data.sequence: windows of 4 tokens -> windows of 6 tokens");
  EXPECT_EQ(said(now({kA}), 3, now({kA}, 4, "cut so"), true)[0],
            "data.pack: windows of 4 tokens -> windows of up to 4 tokens cut so");
  EXPECT_EQ(said(now({kA}, 6, "cut so"), 3, now({kA}, 4), true)[0],
            "data.pack: windows of up to 6 tokens cut so -> windows of 4 tokens");
  EXPECT_EQ(said(now({kA}, 4, "cut so"), 3, now({kA}, 6, "otherwise"), true)[0],
            "data.sequence, data.target or data.eos_id: windows of up to 4 tokens cut so -> "
            "windows of up to 6 tokens otherwise");
}

TEST(SampleOrderTexts, tell_how_an_epoch_can_be_ended) {
  auto const ways =
      ", and the run is within an epoch; give back what it began with, or data.changed=anew begins "
      "an epoch of the data as they are now";
  EXPECT_EQ(
      refusal(now({kA, kB}), now({kA})),
      std::string("data.train: here/b, 20 tokens, is there no more, or has other text") + ways);
  EXPECT_EQ(
      refusal(now({kA}), now({kA}, 6)),
      std::string("data.sequence: windows of 4 tokens have become windows of 6 tokens") + ways);
}

TEST(SampleOrderTexts, are_kept_by_checkpoints_as_earlier_versions_read_them) {
  EXPECT_EQ(to_json(begun(now({kA, kB}))),
            R"({"stretches":[{"begin":0,"epoch":0,"files":[)"
            R"({"fingerprint":"a","path":"here/a","tokens":41},)"
            R"({"fingerprint":"b","path":"here/b","tokens":20}],"seed":7}],"window":4})");
  auto const anew = continued(begun(now({kA})), 13, now({kB}, 6, "cut so"), true).order;
  EXPECT_EQ(
      to_json(anew),
      R"({"cut":"cut so","stretches":[{"begin":13,"epoch":2,"files":[)"
      R"({"fingerprint":"b","path":"here/b","tokens":20}],"seed":7,"windows":3}],"window":6})");
}

std::string with(std::string const& head, std::string const& ranges) {
  return "{" + head + R"(,"stretches":[)" + ranges + "]}";
}
std::string range(char const* begin, char const* epoch, char const* tokens, char const* more = "") {
  return fmt::format(R"({{"begin":{},"epoch":{},"seed":1{},"files":[)"
                     R"({{"path":"a","tokens":{},"fingerprint":""}}]}})",
                     begin, epoch, more, tokens);
}

TEST(SampleOrderTexts, that_nobody_can_have_written_are_damaged) {
  auto const is_taken = [](std::string const& text) {
    try {
      sample_order(text, "there");
      return true;
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::damaged);
      EXPECT_STREQ(error.what(), "there: /run: `data` cannot be understood");
      return false;
    }
  };
  auto const window = std::string(R"("window":4)"), cut = window + R"(,"cut":"so")";
  EXPECT_TRUE(is_taken(with(window, range("3", "2", "5") + "," + range("4", "2", "5"))));
  EXPECT_FALSE(is_taken(with(window, range("3", "2", "5") + "," + range("3", "2", "5"))));
  EXPECT_FALSE(is_taken(with(window, range("3", "2", "5") + "," + range("4", "2", "4"))));
  EXPECT_FALSE(is_taken(with(window, range("3", "-1", "5"))));
  EXPECT_FALSE(is_taken(with(window, range("3", "2", "-5"))));
  EXPECT_FALSE(is_taken(with(window, range("1152921504606846977", "2", "5"))));
  EXPECT_FALSE(is_taken(with(window, range("3", "1152921504606846977", "5"))));
  EXPECT_TRUE(is_taken(with(window, range("3", "2", "1152921504606846976"))));
  EXPECT_FALSE(is_taken(with(window, range("3", "2", "1152921504606846977"))));
  EXPECT_FALSE(is_taken(with(R"("window":1152921504606846977)", range("3", "2", "5"))));
  EXPECT_TRUE(is_taken(with(cut, range("0", "0", "3", R"(,"windows":3)"))));
  EXPECT_FALSE(is_taken(with(cut, range("0", "0", "3", R"(,"windows":4)"))));
  EXPECT_FALSE(is_taken(with(cut, range("0", "0", "3", R"(,"windows":0)"))));
}

}  // namespace
}  // namespace spillway::sample_order_texts_test
