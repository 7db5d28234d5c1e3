// Which text a run's samples are of, where its data change between two jobs.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "samples/data_order.hpp"
#include "samples/sample_order.hpp"

namespace spillway::train_sample_order_test {
namespace {

constexpr std::int64_t kWindow = 4, kSeed = 7;

KnownFile file(std::string const& name, std::int64_t tokens) {
  return {"here/" + name, tokens, name};
}
KnownFile const kA = file("a", 41), kB = file("b", 20), kC = file("c", 33), kShort = file("s", 4);

DataNow now(std::vector<KnownFile> files, std::uint64_t seed = kSeed) {
  return {std::move(files), kWindow, seed};
}

// (epoch, file and first token) of every sample in [first, end).
using Seen = std::pair<std::int64_t, std::pair<std::string, std::int64_t>>;
std::vector<Seen> seen(SampleOrder const& order, std::int64_t first, std::int64_t end) {
  std::vector<Seen> result;
  for (auto sample = first; sample < end; ++sample) {
    auto range = order.ranges.end() - 1;
    while (range->begin > sample) --range;
    DataOrder const own(order.windows(*range), range->seed, {range->begin, range->epoch});
    auto const [epoch, window] = own.sample(sample);
    auto token = window * kWindow;
    auto at = range->files.begin();
    for (; token >= at->tokens; ++at) token -= at->tokens;
    result.push_back({epoch, {at->fingerprint, token}});
  }
  return result;
}

// Of a run that `first` samples were of `before`, and whose next ones are of `after`.
std::vector<Seen> both(SampleOrder const& before, SampleOrder const& after, std::int64_t first,
                       std::int64_t end) {
  auto result = seen(before, 0, first);
  for (auto const& next : seen(after, first, end)) result.push_back(next);
  return result;
}

void expect_none_twice(std::vector<Seen> const& all) {
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
}

TEST(SampleOrder, of_the_same_files_elsewhere_is_the_same) {
  auto const before = begun(now({kA, kB}));
  auto moved = now({kA, kB});
  for (auto& each : moved.files) each.path = "there/" + each.fingerprint;
  auto const after = continued(before, 5, moved, false);
  EXPECT_TRUE(after.said.empty());
  EXPECT_EQ(seen(after.order, 0, 60), seen(before, 0, 60));
  EXPECT_EQ(after.order.ranges[0].files[1].path, "there/b");
}

TEST(SampleOrder, completes_an_epoch_without_a_window_twice_when_files_were_added_or_sorted) {
  auto const before = begun(now({kA, kB}));
  auto const windows = before.windows(before.ranges[0]);  // 15
  for (std::int64_t const done : {1, 7, 14, 16, 31}) {
    for (auto const& files : {std::vector{kC, kA, kB}, {kB, kA}, {kA, kShort, kB}}) {
      auto const [after, said] = continued(before, done, now(files), false);
      ASSERT_EQ(said.size(), 2u);
      auto const whole = after.ranges.back();
      EXPECT_EQ(whole.files.size(), files.size());
      expect_none_twice(both(before, after, done, whole.begin + after.windows(whole)));
      auto const added = files[0].is_same(kC) ? (kC.tokens - 1) / kWindow : 0;
      EXPECT_EQ(whole.begin, (done / windows + 1) * windows + added);
      EXPECT_EQ(whole.epoch, done / windows + 1);
    }
  }
}

TEST(SampleOrder, takes_two_changes_within_an_epoch) {
  auto const first = begun(now({kA}));  // 10 windows an epoch
  auto const second = continued(first, 13, now({kA, kB}), false).order;
  for (std::int64_t const done : {15, 20, 22}) {  // in what is left, between, and in the new file
    auto const third = continued(second, done, now({kB, kC, kA}), false).order;
    auto rows = seen(second, 13, done);
    for (auto const& row : seen(third, done, third.ranges.back().begin)) rows.push_back(row);
    for (auto const& row : seen(first, 10, 13)) rows.push_back(row);
    expect_none_twice(rows);
    auto const added = done < 20 ? (20 + 33 - 1) / kWindow : 19 / kWindow + 32 / kWindow;
    EXPECT_EQ(std::ssize(rows), 10 + added) << done;
    for (auto const& row : rows) EXPECT_EQ(row.first, 1);
  }
}

TEST(SampleOrder, keeps_the_seed_of_the_epoch_under_way) {
  auto const before = begun(now({kA}));
  auto const [after, said] = continued(before, 4, now({kA}, 8), false);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0], "run.seed: 7 -> 8");
  EXPECT_EQ(seen(after, 4, 10), seen(before, 4, 10));
  EXPECT_NE(seen(after, 10, 20), seen(before, 10, 20));
}

void expect_refused(DataNow const& data, std::string const& text) {
  try {
    continued(begun(now({kA, kB})), 7, data, false);
    FAIL() << "accepted";
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("data.changed=anew"), std::string::npos);
  }
}

TEST(SampleOrder, is_refused_within_an_epoch_where_a_file_is_gone_or_windows_are_others) {
  expect_refused(now({kA}), "here/b, 20 tokens");
  auto other = kB;
  other.fingerprint = "other text";
  expect_refused(now({kA, other}), "here/b, 20 tokens");
  auto longer = now({kA, kB});
  longer.window = 2 * kWindow;
  expect_refused(longer, "windows of 4 tokens have become windows of 8 tokens");
}

// Windows of unlike length are counted by who knows the text.
DataNow cut_now(std::vector<KnownFile> files) {
  auto data = now(std::move(files));
  data.cut = "that end at will";
  data.count = [](std::vector<KnownFile> const& some) {
    std::int64_t windows = 0;
    for (auto const& each : some) windows += each.tokens / 10;
    return windows;
  };
  return data;
}

TEST(SampleOrder, counts_windows_of_unlike_length_and_keeps_how_many_there_are) {
  auto const before = begun(cut_now({kA, kB}));
  EXPECT_EQ(before.windows(before.ranges[0]), 6);
  auto const [after, said] = continued(before, 2, cut_now({kC, kA, kB}), false);
  ASSERT_EQ(after.ranges.size(), 3u);  // what is left, the new file, all of them
  EXPECT_EQ(after.ranges[1].begin, 6);
  EXPECT_EQ(after.ranges[2].begin, 6 + 3);
  EXPECT_EQ(after.windows(after.ranges[2]), 9);
  auto const again = sample_order(to_json(after), "here");
  EXPECT_EQ(to_json(again), to_json(after));
  EXPECT_EQ(again.windows(again.ranges[1]), 3);
  EXPECT_TRUE(continued(again, 7, cut_now({kC, kA, kB}), false).said.empty());
  // A file without a window adds none.
  auto const little = continued(before, 2, cut_now({kA, kB, file("s", 4)}), false).order;
  ASSERT_EQ(little.ranges.size(), 2u);
  EXPECT_EQ(little.ranges[1].begin, 6);
}

// An earlier version cut packed spans into windows of equal length.
TEST(SampleOrder, does_not_take_windows_of_equal_length_for_others) {
  EXPECT_EQ(to_json(begun(now({kA}))).find("cut"), std::string::npos);
  expect_refused(cut_now({kA, kB}),
                 "data.pack: windows of 4 tokens have become windows of up to 4 tokens that end at "
                 "will");
  auto const [after, said] = continued(begun(now({kA})), 7, cut_now({kA}), true);
  EXPECT_EQ(after.windows(after.ranges[0]), 4);
}

TEST(SampleOrder, begins_anew_where_asked_for_and_between_two_epochs) {
  auto longer = now({kC});
  longer.window = 2 * kWindow;
  auto const before = begun(now({kA, kB}));
  for (auto const& [done, anew] : {std::pair<std::int64_t, bool>{7, true}, {30, false}}) {
    auto const [after, said] = continued(before, done, longer, anew);
    ASSERT_EQ(after.ranges.size(), 1u);
    EXPECT_EQ(after.ranges[0].begin, done);
    EXPECT_EQ(after.ranges[0].epoch, anew ? 1 : 2);
    ASSERT_EQ(said.size(), 2u);
    EXPECT_EQ(
        said[0],
        "data.train: here/c (33 tokens) is new; here/a (41 tokens), here/b (20 tokens) are there "
        "no more; data.sequence: windows of 4 tokens -> windows of 8 tokens");
    EXPECT_TRUE(continued(after, done + 3, longer, anew).said.empty()) << "once only";
  }
}

// As a checkpoint would say that somebody has changed.
TEST(SampleOrder, is_at_its_beginning_before_its_first_sample) {
  auto const before = continued(begun(now({kA, kB})), 7, now({kC}), true).order;
  ASSERT_EQ(before.ranges.at(0).begin, 7);
  ASSERT_EQ(before.ranges.at(0).epoch, 1);
  auto const [after, said] = continued(before, 5, now({kA}), false);
  ASSERT_EQ(after.ranges.size(), 1u);
  EXPECT_EQ(after.ranges[0].begin, 5);
  EXPECT_EQ(after.ranges[0].epoch, 1);
  EXPECT_EQ(after.ranges[0].files.at(0).path, "here/a");
}

// The last token of a text is only the last window's successor.
TEST(SampleOrder, has_as_many_windows_as_have_a_successor) {
  for (auto const& [tokens, windows] :
       {std::pair(5, 1), std::pair(8, 1), std::pair(9, 2), std::pair(12, 2), std::pair(13, 3)}) {
    auto const order = begun(now({file("f", tokens)}));
    EXPECT_EQ(order.windows(order.ranges[0]), windows) << tokens;
  }
}

TEST(SampleOrder, comes_back_from_its_text_and_no_other_is_taken) {
  auto const order = continued(begun(now({kA, kB})), 7, now({kA, kB, kC}), false).order;
  EXPECT_EQ(to_json(sample_order(to_json(order), "here")), to_json(order));
  auto const with = [](char const* window, char const* begin, char const* tokens) {
    return fmt::format(R"({{"window":{},"stretches":[{{"begin":{},"epoch":0,"seed":1,"files":)"
                       R"([{{"path":"a","tokens":{},"fingerprint":""}}]}}]}})",
                       window, begin, tokens);
  };
  EXPECT_EQ(sample_order(with("4", "0", "9"), "here").window, 4);
  for (auto const& text :
       {std::string(), std::string("{"), std::string("{}"),
        std::string(R"({"window":4,"stretches":[]})"), with("0", "0", "9"), with("4", "-1", "9"),
        with("4", "0", "4"), with("4,\"cut\":\"x\"", "0", "9")}) {
    try {
      sample_order(text, "here");
      FAIL() << text;
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::damaged);
    }
  }
}

}  // namespace
}  // namespace spillway::train_sample_order_test
