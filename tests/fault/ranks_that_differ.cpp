// Ranks that are given other keys, or find other files under the same names, as nodes with copies
// of their own do: refused before the first step, and the rank, the key and the file are named.
#include <fmt/format.h>

#include "fault_test.hpp"

namespace spillway::test::ranks_that_differ_test {
namespace {

namespace fs = std::filesystem;

class RanksThatDiffer : public FaultTest {
 protected:
  // Both ranks' directories hold the same text, but for what a test replaces in the second.
  RanksThatDiffer() {
    for (auto const* rank : {"0", "1"}) {
      fs::create_directory(m_dir / rank);
      write_text(std::string(rank) + "/t.h5", 20000);
      write_text(std::string(rank) + "/v.h5", 3000);
    }
  }

  void write_text(std::string const& name, int count, int seed = 3) const {
    std::string text;
    for (int i = 0; i < count; ++i) text += static_cast<char>('a' + (i * seed + i / 7) % 23);
    write("text.txt", text);
    auto const made = run_command(spillway_command(kAlone) + " tokenize --tokenizer byte -o " +
                                  path(name) + " " + path("text.txt"));
    ASSERT_EQ(made.status, 0) << made.output;
  }

  // Two ranks, each in its own directory, the second with keys of its own.
  Outcome two(std::string const& command, std::string const& second = "") const {
    auto const arguments =
        fmt::format(" {} {} data.train=t.h5 data.valid=v.h5 run.steps=1 run.dir={} {} ",
                    command.substr(0, command.find(' ')), path("job.yaml"), path("run"),
                    command.find(' ') == command.npos ? "" : command.substr(command.find(' ')));
    return run_command(fmt::format("cd {} && {}{} : -wdir {} -n 1 {}{}{}", path("0"),
                                   spillway_command(1), arguments, path("1"),
                                   spillway_command(kAlone), arguments, second));
  }
};

TEST_F(RanksThatDiffer, by_their_files_are_refused_by_rank_key_and_file) {
  ASSERT_EQ(two("train").status, 0);
  auto const eval = "eval --checkpoint " + path("run");
  ASSERT_EQ(two(eval).status, 0);
  fs::remove_all(m_dir / "run");

  write_text("1/t.h5", 15000);
  EXPECT_TRUE(fails_with(2,
                         "rank 1: data.train: t.h5 is another file than rank 0's (15000 tokens, "
                         "20000 there)",
                         two("train")));
  write_text("1/t.h5", 20000, 5);
  EXPECT_TRUE(fails_with(2,
                         "rank 1: data.train: t.h5 is another file than rank 0's (as many tokens, "
                         "20000, of other text)",
                         two("train")));
  write_text("1/t.h5", 20000);
  write_text("1/v.h5", 3000, 5);
  EXPECT_TRUE(
      fails_with(2, "rank 1: data.valid: v.h5 is another file than rank 0's", two("train")));
  EXPECT_FALSE(fs::exists(m_dir / "run"));

  write_text("1/v.h5", 3000);
  ASSERT_EQ(two("train").status, 0);
  write_text("1/v.h5", 2500);
  EXPECT_TRUE(fails_with(2, "rank 1: data.valid: v.h5 is another file than rank 0's (2500 tokens",
                         two(eval)));
}

TEST_F(RanksThatDiffer, by_files_that_a_pattern_finds_are_refused) {
  write_text("1/t2.h5", 3000, 5);
  EXPECT_TRUE(fails_with(2, "rank 1: data.train: 2 files, rank 0 has 1: t2.h5 is not there",
                         two("train 'data.train=t*.h5'")));
}

// Dropout changes the graph, which ranks measure and plan together before they train.
TEST_F(RanksThatDiffer, by_a_key_are_refused_before_they_exchange_anything) {
  for (auto const* key : {"model.dropout=0.5", "optim.lr=5e-3", "model.family=llama"})
    EXPECT_TRUE(
        fails_with(2, "rank 1: this rank is given other keys than rank 0: ", two("train", key)));
  EXPECT_TRUE(
      fails_with(2, "model.dropout 0 -> 0.5; input file", two("train", "model.dropout=0.5")));
  EXPECT_TRUE(
      fails_with(2, "run.max_time none -> 1h; input file", two("train", "run.max_time=1h")));
  ASSERT_EQ(two("train").status, 0);
  EXPECT_TRUE(fails_with(2, "rank 1: this rank is given other keys than rank 0: batch.sequences",
                         two("eval --checkpoint " + path("run"), "batch.sequences=6")));
}

// The first has all of its steps and would leave; the second would train alone.
TEST_F(RanksThatDiffer, by_their_checkpoints_are_refused) {
  auto const alone =
      train("data.train=" + path("0/t.h5") + " run.steps=1 run.dir=" + path("0/run"));
  ASSERT_EQ(alone.status, 0) << alone.output;
  EXPECT_TRUE(fails_with(2, "rank 1: run: this rank finds no checkpoint there, but rank 0 does",
                         two("train run.dir=run")));
}

}  // namespace
}  // namespace spillway::test::ranks_that_differ_test
