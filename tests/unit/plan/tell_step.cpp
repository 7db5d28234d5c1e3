// What a step's telling says, and in which order.
#include "plan/schedule/tell_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace spillway::test::tell_step_test {
namespace {

// Two blocks of a chunk each; the parameters of the first are used once more by the second.
struct Toy {
  bool several = false, ranks = false, each = false;
  bool shared = false, copies = false, visits = false, on_drive = false;  // of the second chunk
  std::vector<int> order = {0, 1};  // of the pieces of updates
  std::vector<std::vector<int>> early = {{}, {1}, {0}};

  int blocks() const { return 2; }
  int groups() const { return 2; }
  int block_of(int group) const { return 1 - group; }
  using Chunks = std::vector<int>;
  Chunks fetches(int station) const { return station == 1 ? Chunks{1} : Chunks{}; }
  Chunks drops(int station) const { return station == 2 ? Chunks{1} : Chunks{}; }
  int forward_pieces(int) const { return 1; }
  template <class Visit>
  void leaving(int block, int, Visit visit) const {
    if (block == 0) visit(7);
  }
  int backward_pieces(int) const { return 1; }
  template <class Visit>
  void coming(Station const& at, int, Visit visit) const {
    if (at.group == 1) visit(7, at.batch.member);
  }
  template <class Visit>
  void gradients(int group, int, Visit visit) const {
    if (group == 0) visit(GradientId{1});
    if (group == 0 && several) visit(GradientId{0, 0});
    if (group == 1) visit(GradientId{0});
  }
  bool sums_visit(int chunk) const { return (visits || on_drive) && chunk == 1; }
  bool sums_on_drive(int chunk) const { return on_drive && chunk == 1; }
  int parts(int chunk) const { return several && chunk == 0 ? 1 : 0; }
  bool exchanges() const { return ranks; }
  bool reduces_each(int) const { return each; }
  bool is_shared_out(int chunk) const { return shared && chunk == 1; }
  bool has_copies(int chunk) const { return !is_shared_out(chunk) || copies; }
  Chunks chunks() const { return {0, 1}; }
  Chunks updated_after(int group) const { return early[static_cast<std::size_t>(group)]; }
  int loss_group() const { return 0; }
  int pieces() const { return static_cast<int>(order.size()); }
  int chunk_of(int piece) const { return order[static_cast<std::size_t>(piece)]; }
  int ahead(int) const { return 1; }
};

struct Recorder : StepSink {
  std::vector<std::string> said;
  template <class... Args>
  void say(std::string_view text, Args const&... args) {
    said.push_back(fmt::vformat(text, fmt::make_format_args(args...)));
  }
  static std::string id(GradientId g) {
    return g.part < 0 ? fmt::format("{}", g.chunk) : fmt::format("{}.{}", g.chunk, g.part);
  }
  // Every event of a micro-batch carries it; that of a second member is marked.
  void say_of(MicroBatch const& now, std::string_view text, auto const&... args) {
    say(text, args...);
    if (now.member > 0) said.back() += fmt::format("'{}", now.member);
  }
  void begin_micro_batches(MicroBatches const& now) { say("{}:", now.segment); }
  void fetch(int chunk, Station const& at) { say_of(at.batch, "fetch {}", chunk); }
  void drop(int chunk, Station const& at) { say_of(at.batch, "drop {}", chunk); }
  void forward(Station const& at, int) {
    EXPECT_EQ(at.number, at.block);
    say_of(at.batch, "forward {}", at.block);
  }
  void leave(Station const& at, int what) { say_of(at.batch, "leave {}", what); }
  void reload(Station const& at, int what, int member) {
    EXPECT_EQ(member, at.batch.member);
    say_of(at.batch, "reload {}", what);
  }
  void backward(Station const& at, int) {
    EXPECT_EQ(at.number, 2 + at.group);
    say_of(at.batch, "backward {}", at.block);
  }
  void bring_sum_to_visit(int chunk, Station const&) { say("bring sum {}", chunk); }
  void take_sum_home(int chunk, Station const&) { say("take sum {} home", chunk); }
  void collect(GradientId g, Station const& at) { say_of(at.batch, "collect {}", id(g)); }
  void accumulate(GradientId g, MicroBatch const& now) { say_of(now, "accumulate {}", id(g)); }
  void add_part(GradientId g, MicroBatch const& now) { say_of(now, "add {}", id(g)); }
  void reduce(GradientId g, MicroBatch const& now) { say_of(now, "reduce {}", id(g)); }
  void sum_slice(GradientId g, MicroBatch const& now) { say_of(now, "sum {}", id(g)); }
  void gather_gradient(GradientId g, MicroBatch const& now) { say_of(now, "gather {}", id(g)); }
  void begin_update() { say("update:"); }
  void norm(int chunk) { say("norm {}", chunk); }
  void commit(bool knows_norms) { say("commit{}", knows_norms ? "" : " without norms"); }
  void report() { say("report"); }
  void bring(int piece, bool late) { say("bring {}{}", piece, late ? " late" : ""); }
  void update(int piece) { say("piece {}", piece); }
  void updated(int chunk) { say("updated {}", chunk); }
  void gather_parameters(int chunk) { say("send {}", chunk); }
};

std::string told(Toy const& toy, std::vector<MicroBatches> const& segments, bool redo = true) {
  Recorder recorder;
  StepTelling step(toy, redo, recorder);
  step.begin_step();
  for (auto const& segment : segments) step.micro_batches(segment);
  step.update();
  return fmt::format("{}", fmt::join(recorder.said, ", "));
}
// `micro_batches`: 1, 2 or 3, of which the third is told between the others.
std::string told(Toy const& toy, int micro_batches, bool redo = true) {
  std::vector<MicroBatches> segments;
  if (micro_batches > 1) segments.push_back({"first", 1, true, false});
  if (micro_batches > 2) segments.push_back({"middle", 1, false, false});
  segments.push_back({"last", 1, micro_batches == 1, true});
  return told(toy, segments, redo);
}

std::string const kForward = "forward 0, leave 7, fetch 1, forward 1, ";
std::string const kUpdate =
    "update:, bring 0, bring 1, bring 0 late, bring 1 late, norm 0, norm 1, commit, piece 0, "
    "updated "
    "0, piece 1, updated 1";

TEST(Telling, of_one_micro_batch) {
  EXPECT_EQ(told({}, 1), "last:, " + kForward +
                             "backward 1, collect 1, drop 1, reload 7, backward 0, collect 0, " +
                             kUpdate);
}

// The step's gradients are summed up; with the last micro-batch the further use is added.
TEST(Telling, of_several_micro_batches) {
  auto const first =
      kForward + "backward 1, collect 1, collect 0.0, drop 1, reload 7, backward 0, collect 0";
  auto const middle = kForward +
                      "backward 1, collect 1, accumulate 1, collect 0.0, accumulate 0.0, drop 1, "
                      "reload 7, backward 0, collect 0, accumulate 0";
  EXPECT_EQ(told({.several = true}, 3), "first:, " + first + ", middle:, " + middle + ", last:, " +
                                            middle + ", add 0.0, " + kUpdate);
}

// Two members pass each station before the next, with one fetch and one drop; the second one's
// gradients are added, as are all of a later segment's.
TEST(Telling, of_micro_batches_that_walk_together) {
  auto const forward =
      std::string("forward 0, leave 7, forward 0'1, leave 7'1, fetch 1, forward 1, forward 1'1, ");
  EXPECT_EQ(told({.several = true}, {{"last", 2, true, true}}),
            "last:, " + forward +
                "backward 1, collect 1, collect 0.0, "
                "backward 1'1, collect 1'1, accumulate 1'1, collect 0.0'1, accumulate 0.0'1, "
                "drop 1'1, reload 7, backward 0, collect 0, "
                "reload 7'1, backward 0'1, collect 0'1, accumulate 0'1, add 0.0'1, " +
                kUpdate);
  auto const all = told({.several = true}, {{"first", 2, true, false}, {"last", 1, false, true}});
  EXPECT_NE(all.find("collect 0'1, accumulate 0'1, last:, " + kForward +
                     "backward 1, collect 1, accumulate 1, "),
            all.npos)
      << all;
}

// The first group leaves a sum; a later one brings it a group ahead, or with the first group.
TEST(Telling, of_sums_that_visit_the_device) {
  auto const all = told({.several = true, .visits = true},
                        {{"first", 2, true, false}, {"last", 2, false, true}});
  EXPECT_NE(all.find("backward 1, collect 1, collect 0.0, backward 1'1, collect 1'1, "
                     "accumulate 1'1, take sum 1 home, collect 0.0'1"),
            all.npos)
      << all;
  EXPECT_NE(all.find("bring sum 1, backward 1, collect 1, accumulate 1, collect 0.0, "
                     "accumulate 0.0, backward 1'1, collect 1'1, accumulate 1'1, take sum 1 home"),
            all.npos)
      << all;
}

std::string const kUpdateFromDrive =
    "update:, bring 0, bring 1, bring 0 late, bring 1 late, norm 0, commit, piece 0, updated 0, "
    "piece 1, updated 1";

// Their norm is taken before they leave, once they are whole.
TEST(Telling, of_sums_on_the_drive) {
  EXPECT_EQ(told({.on_drive = true}, 1),
            "last:, " + kForward +
                "backward 1, collect 1, norm 1, take sum 1 home, drop 1, reload 7, backward 0, "
                "collect 0, " +
                kUpdateFromDrive);
  EXPECT_EQ(told({.several = true, .on_drive = true}, 2),
            "first:, " + kForward +
                "backward 1, collect 1, take sum 1 home, collect 0.0, drop 1, reload 7, backward "
                "0, collect 0, last:, " +
                kForward +
                "bring sum 1, backward 1, collect 1, accumulate 1, norm 1, take sum 1 home, "
                "collect 0.0, accumulate 0.0, drop 1, reload 7, backward 0, collect 0, accumulate "
                "0, add 0.0, " +
                kUpdateFromDrive);
}

// Without redo, norms of what is in memory come with the updates.
TEST(Telling, of_sums_on_the_drive_and_early_updates) {
  EXPECT_EQ(told({.on_drive = true, .order = {1, 0}}, 1, false),
            "last:, " + kForward +
                "backward 1, collect 1, norm 1, take sum 1 home, drop 1, commit without norms, "
                "bring 0, bring 1, reload 7, backward 0, collect 0, bring 0 late, piece 0, updated "
                "1, norm 0, bring 1 late, piece 1, updated 0, update:, report");
}

// What ranks sum goes to the drive when that is done.
TEST(Telling, of_sums_over_ranks_on_the_drive) {
  EXPECT_EQ(told({.ranks = true, .on_drive = true}, 1),
            "last:, " + kForward +
                "backward 1, collect 1, reduce 1, drop 1, reload 7, backward 0, collect 0, reduce "
                "0, sum 1, gather 1, norm 1, take sum 1 home, sum 0, gather 0, " +
                kUpdateFromDrive);
  EXPECT_EQ(told({.ranks = true, .shared = true, .on_drive = true}, 1),
            "last:, " + kForward +
                "backward 1, collect 1, reduce 1, drop 1, reload 7, backward 0, collect 0, reduce "
                "0, sum 1, norm 1, take sum 1 home, sum 0, gather 0, " +
                kUpdateFromDrive + ", send 1");
}

// Sums over ranks are begun behind a station's last member, with what all of them have added.
TEST(Telling, of_ranks_whose_micro_batches_walk_together) {
  auto const all = told({.several = true, .ranks = true}, {{"last", 2, true, true}});
  EXPECT_EQ(all.find("reduce"), all.find("reduce 1'1, collect 0.0'1"));
  EXPECT_NE(all.find("accumulate 0'1, add 0.0'1, reduce 0'1, sum 1'1, gather 1'1, sum 0'1, gather "
                     "0'1, update:"),
            all.npos)
      << all;
}

// Sums over ranks are begun with the gradient and taken up behind the next group.
TEST(Telling, of_ranks) {
  EXPECT_EQ(told({.ranks = true}, 1),
            "last:, " + kForward +
                "backward 1, collect 1, reduce 1, drop 1, reload 7, backward 0, collect 0, reduce "
                "0, sum 1, gather 1, sum 0, gather 0, " +
                kUpdate);
  auto const last = told({.several = true, .ranks = true}, 2);
  EXPECT_EQ(last.find("reduce"), last.find("reduce 1, collect 0.0, accumulate 0.0, drop 1"));
  EXPECT_NE(last.find("accumulate 0, add 0.0, reduce 0, sum 1, gather 1, sum 0, gather 0, update:"),
            last.npos);
}

// Then each micro-batch's gradient is summed before it joins the step's, further uses by
// themselves.
TEST(Telling, of_ranks_that_reduce_every_micro_batch) {
  auto const all = told({.several = true, .ranks = true, .each = true}, 2);
  auto const reduces =
      "collect 1, reduce 1, collect 0.0, reduce 0.0, drop 1, reload 7, backward 0, "
      "collect 0, reduce 0, ";
  EXPECT_NE(all.find(std::string(reduces) +
                     "sum 1, gather 1, sum 0.0, gather 0.0, sum 0, gather 0, last:"),
            all.npos)
      << all;
  EXPECT_NE(all.find(std::string(reduces) +
                     "sum 1, gather 1, accumulate 1, sum 0.0, gather 0.0, accumulate 0.0, "
                     "sum 0, gather 0, accumulate 0, add 0.0, update:"),
            all.npos)
      << all;
}

// The sums of a chunk that ranks share out stay where they are, and its parameters go to all.
TEST(Telling, of_ranks_that_share_out_a_chunk) {
  EXPECT_EQ(told({.ranks = true, .shared = true}, 1),
            "last:, " + kForward +
                "backward 1, collect 1, reduce 1, drop 1, reload 7, backward 0, collect 0, reduce "
                "0, sum 1, sum 0, gather 0, " +
                kUpdate + ", send 1");
}

// Other nodes' ranks keep the same slice: they get its sum as well.
TEST(Telling, of_ranks_that_share_out_a_chunk_within_nodes) {
  EXPECT_EQ(told({.ranks = true, .shared = true, .copies = true}, 1),
            "last:, " + kForward +
                "backward 1, collect 1, reduce 1, drop 1, reload 7, backward 0, collect 0, reduce "
                "0, sum 1, gather 1, sum 0, gather 0, " +
                kUpdate + ", send 1");
}

TEST(Telling, of_early_updates) {
  EXPECT_EQ(told({.order = {1, 0}}, 1, false),
            "last:, " + kForward +
                "backward 1, collect 1, drop 1, commit without norms, bring 0, bring 1, reload 7, "
                "backward 0, collect 0, norm 1, bring 0 late, piece 0, updated 1, norm 0, bring 1 "
                "late, piece 1, updated 0, update:, report");
}

TEST(Telling, leaves_no_update_out) {
  EXPECT_THROW(told({.order = {1, 0}}, 1), std::logic_error);
}

}  // namespace
}  // namespace spillway::test::tell_step_test
