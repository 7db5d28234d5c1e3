// What queues say and do at storage that answers as a test says, and without what they need.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "io/file/file.hpp"
#include "io/ring/backends.hpp"
#include "io/ring/probe.hpp"
#include "io/ring/scripted_queue.hpp"
#include "io/spill/fault_injector.hpp"
#include "tests/support/few_threads.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::test::queues_by_hand_test {
namespace {

// Moves nothing; operations end as `answers` say, by operation and bytes.
class ByHand final : public TransferQueue {
 public:
  explicit ByHand(int depth) : TransferQueue(depth) {}
  char const* backend() const override { return "by hand"; }
  void wake() noexcept override {}

  std::vector<std::pair<int, TransferRequest>> asked;
  std::deque<std::pair<int, std::int64_t>> answers;

 private:
  void start(int operation, TransferRequest const& rest) noexcept override {
    asked.emplace_back(operation, rest);
  }
  std::optional<Outcome> next(double) noexcept override {
    if (answers.empty()) return {};
    auto const [operation, bytes] = answers.front();
    answers.pop_front();
    return Outcome{operation, bytes};
  }
};

// Until the clock shows another time.
void let_time_pass(double seconds = 0) {
  auto const begin = SteadyClock::now();
  while (SteadyClock::now() == begin || seconds_since(begin) < seconds) {
  }
}

class QueuesByHand : public testing::Test {
 protected:
  std::span<std::byte> some(std::size_t bytes) { return std::span(m_memory).first(bytes); }

  std::vector<std::byte> m_memory = std::vector<std::byte>(100);
  ByHand m_queue{2};
};

TEST_F(QueuesByHand, ask_for_the_rest_and_name_the_whole_of_what_is_under_way) {
  m_queue.submit({Direction::read, 3, some(10), 40, 7});
  let_time_pass();
  m_queue.submit({Direction::write, 4, some(20), 100, 8});
  EXPECT_TRUE(m_queue.full());
  auto const first = m_queue.asked[0].first;
  m_queue.answers = {{first, 3}};
  EXPECT_FALSE(m_queue.wait(0));
  ASSERT_EQ(m_queue.asked.size(), 3u);
  auto const& [operation, rest] = m_queue.asked[2];
  EXPECT_EQ(operation, first);
  EXPECT_EQ(rest.memory.data(), m_memory.data() + 3);
  EXPECT_EQ(rest.memory.size(), 7u);
  EXPECT_EQ(rest.offset_bytes, 43);
  EXPECT_EQ(rest.file, 3);
  auto const told = m_queue.outstanding();
  EXPECT_TRUE(told.starts_with("read of 10 bytes at 40 for ")) << told;
  EXPECT_NE(told.find(" s, write of 20 bytes at 100 for "), told.npos) << told;
}

// An operation that serves once more is as old as what it serves.
TEST_F(QueuesByHand, name_the_oldest_first_whatever_serves_it) {
  m_queue.submit({Direction::read, 3, some(10), 40, 7});
  let_time_pass();
  m_queue.submit({Direction::write, 4, some(20), 100, 8});
  m_queue.answers = {{m_queue.asked[0].first, 10}};
  auto const done = m_queue.wait(0);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->tag, 7u);
  EXPECT_EQ(done->error, 0);
  EXPECT_TRUE(m_queue.outstanding().starts_with("write of 20 bytes at 100 for "));
  let_time_pass();
  m_queue.submit({Direction::read, 3, some(5), 9, 11});
  EXPECT_EQ(m_queue.asked[2].first, m_queue.asked[0].first);
  auto const told = m_queue.outstanding();
  EXPECT_TRUE(told.starts_with("write of 20 bytes at 100 for ")) << told;
  EXPECT_NE(told.find(" s, read of 5 bytes at 9 for "), told.npos) << told;
}

TEST_F(QueuesByHand, tell_the_seconds_since_it_was_asked) {
  let_time_pass(0.3);
  auto const before = SteadyClock::now();
  m_queue.submit({Direction::read, 3, some(10), 40, 7});
  let_time_pass(0.2);
  auto const told = m_queue.outstanding();
  auto const most = seconds_since(before);
  auto const seconds = std::stod(told.substr(told.find(" for ") + 5));
  EXPECT_GE(seconds, 0.15);  // it is rounded
  EXPECT_LE(seconds, most + 0.05);
}

TEST_F(QueuesByHand, know_the_end_of_a_file_from_an_error_and_both_from_a_pause) {
  m_queue.submit({Direction::read, 3, some(10), 40, 7});
  m_queue.submit({Direction::write, 4, some(20), 100, 8});
  auto const first = m_queue.asked[0].first, second = m_queue.asked[1].first;
  m_queue.answers = {{first, -EINTR}, {second, -EAGAIN}, {first, 0}, {second, -ENOSPC}};
  auto const end = m_queue.wait(0), full = m_queue.wait(0);
  EXPECT_EQ(m_queue.asked.size(), 4u) << "two were begun again";
  ASSERT_TRUE(end && full);
  EXPECT_EQ(std::pair(end->tag, end->error), std::pair(std::uint64_t{7}, EIO));
  EXPECT_EQ(std::pair(full->tag, full->error), std::pair(std::uint64_t{8}, ENOSPC));
  EXPECT_EQ(m_queue.in_flight(), 0);
  EXPECT_EQ(m_queue.outstanding(), "");
}

TEST(ScriptedStorage, damages_one_bit_of_what_it_reads_and_keeps_nothing_of_what_it_is_to_write) {
  auto const file = open_without_name(testing::TempDir());
  std::array<std::byte, 10> stored{}, memory{};
  stored.fill(std::byte{0x50});
  ASSERT_EQ(write_fully(file.get(), stored, 100).error, 0);
  std::vector<TransferEnding> endings = {{10, true}, {10, true}, {1000}, {4}, {1000}};
  ScriptedQueue queue(1, 1, [&](TransferRequest const&) {
    auto const ending = endings.front();
    endings.erase(endings.begin());
    return std::optional(ending);
  });
  auto const end = [&](Direction direction) {
    queue.submit({direction, file.get(), memory, 100, 1});
    auto const done = queue.wait(60);
    return done ? done->error : -1;
  };
  auto damaged = stored;
  damaged[5] = std::byte{0x54};
  EXPECT_EQ(end(Direction::read), 0);
  EXPECT_EQ(memory, damaged);
  EXPECT_EQ(end(Direction::write), 0);
  memory.fill(std::byte{0});
  EXPECT_EQ(end(Direction::read), 0) << "more than there is";
  EXPECT_EQ(memory, stored);
  memory.fill(std::byte{0});
  EXPECT_EQ(end(Direction::read), 0) << "in two parts";
  EXPECT_EQ(memory, stored);
  EXPECT_TRUE(endings.empty());
}

TEST(WithoutDescriptors, rings_are_stepped_down_from_and_said_by_the_keys_name) {
  auto const here = probe_ring(4096).setup_error;
  test::ResourceLimit const none(RLIMIT_NOFILE, 0);
  auto const error = here == 0 ? EMFILE : here;
  auto const why = setup_advice(error);
  auto const made = make_transfer_queue({std::nullopt, 3});
  EXPECT_STREQ(made.queue->backend(), "posix");
  EXPECT_EQ(made.queue->depth(), 3);
  EXPECT_EQ(made.why_not_uring, why);
  EXPECT_EQ(make_transfer_queue({Backend::posix, 3}).why_not_uring, "");
  for (auto const& [backend, name] :
       {std::pair(Backend::uring, "uring"), std::pair(Backend::uring_plain, "uring-plain")})
    EXPECT_EQ(refused_with([&] {
                make_transfer_queue({backend, 3});
              }),
              std::string("debug.force_backend: ") + name + ": " + why);
  auto const probe = probe_ring(4096);
  EXPECT_EQ(probe.setup_error, error);
  EXPECT_FALSE(probe.fixed_buffers);
  EXPECT_EQ(probe.register_error, 0);
  EXPECT_EQ(probe.register_bytes, 4096);
  EXPECT_EQ(probe.advice, std::vector<std::string>{why});
}

// Some start, all of them end.
TEST(WithoutThreads, queues_of_threads_are_refused_and_leave_none_behind) {
  for (int const threads : {1, 3}) {
    FewThreads const few(threads);
    EXPECT_EQ(refused_with([] { make_posix_queue(8); }), kNoThread) << threads;
    EXPECT_EQ(make_posix_queue(threads)->depth(), threads) << "as many can be started again";
  }
}

// More than any address space has.
TEST(ProbedRings, say_that_there_is_no_memory_for_a_buffer) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer ends a program that asks for so much";
#endif
  constexpr auto much = std::int64_t{1} << 47;
  auto const probe = probe_ring(much);
  if (probe.setup_error != 0) GTEST_SKIP() << "no io_uring on this machine";
  EXPECT_FALSE(probe.fixed_buffers);
  EXPECT_EQ(probe.register_error, ENOMEM);
  EXPECT_EQ(probe.register_bytes, much);
  ASSERT_FALSE(probe.advice.empty());
  EXPECT_EQ(probe.advice.front(), register_advice(much, ENOMEM));
}

// A file system in which nobody makes files.
TEST(ProbedDirectories, that_cannot_be_written_have_no_direct_writing_either) {
  if (file_system_of("/proc") != "0x9fa0") GTEST_SKIP() << "/proc is another one here";
  auto const probe = probe_directory("/proc");
  EXPECT_EQ(probe.file_system, "0x9fa0");
  EXPECT_EQ(probe.free_bytes, 0);
  EXPECT_NE(probe.write_error, 0);
  EXPECT_NE(probe.direct_error, 0);
  EXPECT_EQ(probe.direct_alignment_bytes, 0);
  EXPECT_EQ(probe.advice,
            std::vector<std::string>{"/proc cannot be written: " + error_text(probe.write_error)});
}

TEST(PlannedFaults, hit_the_nth_of_each_direction_once_or_from_there_on) {
  auto const seen = [](FaultOnNth faults) {
    std::vector<Fault> all;
    for (int i = 0; i < 4; ++i) all.push_back(faults.before_read());
    for (int i = 0; i < 4; ++i) all.push_back(faults.before_write());
    return all;
  };
  constexpr auto no = Fault::none, hit = Fault::error, flip = Fault::flip_bit;
  using Faults = std::vector<Fault>;
  EXPECT_EQ(seen(FaultOnNth(hit, 2, 3)), (Faults{no, hit, no, no, no, no, hit, no}));
  EXPECT_EQ(seen(FaultOnNth(flip, 0, 1)), (Faults{no, no, no, no, flip, no, no, no}));
  EXPECT_EQ(seen(FaultOnNth(hit, 2, 0, true)), (Faults{no, hit, hit, hit, no, no, no, no}));
  EXPECT_EQ(seen(FaultOnNth(hit, 0, 4, true)), (Faults{no, no, no, no, no, no, no, hit}));
}

}  // namespace
}  // namespace spillway::test::queues_by_hand_test
