// Ranks that would not start alike are refused, and the first of them that differs says why.
#include "state/same_start.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "comm/on_all_ranks.hpp"
#include "io/h5/checkpoint_masters.hpp"
#include "state/checkpoints.hpp"
#include "state/restore.hpp"
#include "tests/unit/state/tiny_state.hpp"

namespace spillway::same_start_test {
namespace {

// What the threads that are ranks have sent and nobody has received yet.
struct Mail {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> letters;  // by from and to
};

class ThreadComm final : public Comm {
 public:
  ThreadComm(Mail& mail, int rank, int size) : Comm({rank, size, rank, size, 0}), m_mail(mail) {}
  void abort(int) override { std::abort(); }

 private:
  void exchange(Traffic, std::span<Outgoing const> outgoing,
                std::span<Incoming const> incoming) override {
    std::unique_lock lock(m_mail.mutex);
    for (auto const& [to, bytes] : outgoing)
      m_mail.letters[{rank(), to}].emplace_back(bytes.begin(), bytes.end());
    m_mail.arrived.notify_all();
    for (auto const& [from, bytes] : incoming) {
      auto& letters = m_mail.letters[{from, rank()}];
      m_mail.arrived.wait(lock, [&] { return !letters.empty(); });
      std::ranges::copy(letters.front(), bytes.begin());
      letters.pop_front();
    }
  }

  Mail& m_mail;
};

using Lines = std::vector<std::string>;

// What each of three ranks ends with: a status and a line, or nothing.
template <class F>
Lines on_three(F const& action) {
  Mail mail;
  Lines lines(3);
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ranks.emplace_back([&, rank] {
      ThreadComm comm(mail, rank, 3);
      try {
        action(comm, rank);
      } catch (AgreedError const& error) {
        lines[static_cast<std::size_t>(rank)] =
            fmt::format("{}: {}", static_cast<int>(error.status()), error.what());
      }
    });
  ranks.clear();
  return lines;
}

TEST(SameStart, is_of_configurations_whose_other_keys_are_named) {
  Config same = test::tiny_config(), other = same;
  other.optim.lr = 0.5;
  other.run.max_time_s = 3600;
  auto const with = [&](int one) {
    return on_three(
        [&](Comm& comm, int rank) { require_same_config(comm, rank == one ? other : same); });
  };
  EXPECT_EQ(with(-1), (Lines{"", "", ""}));
  auto const refused = with(2);
  EXPECT_EQ(refused[0], "2: ");
  EXPECT_EQ(refused[1], "2: ");
  EXPECT_TRUE(refused[2].starts_with("2: this rank is given other keys than rank 0: optim.lr "))
      << refused[2];
  EXPECT_TRUE(refused[2].ends_with(" -> 1h; input file and keys must be the same for all ranks"))
      << refused[2];
}

TEST(SameStart, is_of_checkpoints_that_are_there_or_not_and_of_one_step) {
  RunState seven, eight;
  seven.step = 7;
  eight.step = 8;
  auto const with = [&](std::array<RunState const*, 3> const& found) {
    return on_three([&](Comm& comm, int rank) {
      require_same_checkpoint(comm, "runs/a", found[static_cast<std::size_t>(rank)]);
    });
  };
  EXPECT_EQ(with({}), (Lines{"", "", ""}));
  EXPECT_EQ(with({&seven, &seven, &seven}), (Lines{"", "", ""}));
  EXPECT_EQ(
      with({&seven, nullptr, &seven}),
      (Lines{"2: ", "2: runs/a: this rank finds no checkpoint there, but rank 0 does", "2: "}));
  EXPECT_EQ(
      with({nullptr, nullptr, &seven}),
      (Lines{"2: ", "2: ", "2: runs/a: this rank finds a checkpoint there, but rank 0 does not"}));
  EXPECT_EQ(with({&seven, &eight, &eight}),
            (Lines{"2: ",
                   "2: runs/a: this rank finds another checkpoint there (of step 8) than rank 0; "
                   "all ranks must see the same, or be given one by name",
                   "2: "}));
}

TEST(SameStart, is_of_counts_plan_and_what_the_weights_were_made_of) {
  std::array<StartedModel, 3> starts;
  std::array<std::string, 3> plans{"plan", "plan", "plan"};
  for (auto& started : starts) started.weights = "weights";
  auto const start = [&] {
    return on_three([&](Comm& comm, int rank) {
      auto const at = static_cast<std::size_t>(rank);
      require_same_start(comm, starts[at], plans[at]);
    });
  };
  Lines const alike{"", "", ""};
  EXPECT_EQ(start(), alike);
  auto const why =
      "2: this rank starts otherwise than rank 0; input file, build, run.dir and checkpoint must "
      "be the same for all ranks";
  plans[2] = "other";
  EXPECT_EQ(start(), (Lines{"2: ", "2: ", why}));
  plans[2] = "plan";
  starts[1].state.samples = 1;
  EXPECT_EQ(start(), (Lines{"2: ", why, "2: "}));
  starts[1].state.samples = 0;
  starts[1].weights = "others";
  EXPECT_EQ(start(), (Lines{"2: ", why, "2: "}));
}

TEST(SameStart, of_new_weights_is_of_their_seed_and_of_how_each_begins) {
  auto other = test::tiny_config();
  other.model.layers = 3;  // of which the spread of the first values depends, too
  test::TinyState one, same, another(other);
  EXPECT_EQ(one.model.checksum_of_start(1), same.model.checksum_of_start(1));
  EXPECT_NE(one.model.checksum_of_start(1), one.model.checksum_of_start(2));
  EXPECT_NE(one.model.checksum_of_start(1), another.model.checksum_of_start(1));
  same.program.chunks.back().parameters.back().init.std += 1;
  EXPECT_NE(one.model.checksum_of_start(1), same.model.checksum_of_start(1));
}

// Every weight counts, also the last one of a tensor that is read in several pieces.
TEST(SameStart, of_another_format_is_of_every_weight) {
  auto config = test::tiny_config();
  config.model.hidden = 160;
  test::TinyState from(config), to(config);
  auto const directory = std::filesystem::path(testing::TempDir()) / "start_of_weights";
  auto const comm = make_single_rank_comm();
  auto const start = [&] {
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    RunState run;
    SaveSettings settings;
    save_checkpoint(directory, from.model, run, settings, *comm);
    CheckpointReader reader(directory / "step-0");
    CheckpointMasters weights(reader);
    StreamingChecksum sum;
    start_with_weights(weights, to.model, *comm, &sum);
    return std::pair(sum.value(), reader.checksum());
  };
  auto const [first, first_checkpoint] = start();
  for (auto const& chunk : from.model.chunks())
    for (int p = 0; p < std::ssize(chunk.parameters); ++p) {
      auto const last = element_count(chunk.parameters[static_cast<std::size_t>(p)].view.shape) - 1;
      std::array<float, 1> before{}, other{};
      from.model.read(kMaster, chunk.id, p, last, before);
      other[0] = before[0] + 1;
      from.model.write(kMaster, chunk.id, p, last, other);
      auto const [changed, checkpoint] = start();
      EXPECT_NE(changed, first) << chunk.name << " " << p;
      EXPECT_NE(checkpoint, first_checkpoint) << chunk.name << " " << p;
      from.model.write(kMaster, chunk.id, p, last, before);
    }
  EXPECT_EQ(start(), std::pair(first, first_checkpoint));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace spillway::same_start_test
