// Transfer queues: every backend moves every byte, and what goes on above them survives any order,
// any shortness and any error of theirs.
#include "io/ring/transfer_queue.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/ring/backends.hpp"
#include "io/ring/scripted_queue.hpp"

namespace spillway::transfer_queue_test {
namespace {

constexpr double kLong = 60;

struct PageMemory {
  explicit PageMemory(std::size_t bytes)
      : memory(static_cast<std::byte*>(std::aligned_alloc(4096, bytes)), &std::free), size(bytes) {
    std::memset(memory.get(), 0, bytes);
  }
  std::span<std::byte> span() const { return {memory.get(), size}; }

  std::unique_ptr<std::byte, void (*)(void*)> memory;
  std::size_t size;
};

FileDescriptor scratch_file() {
  auto name = testing::TempDir() + "/transfer-queue-XXXXXX";
  FileDescriptor file(::mkostemp(name.data(), O_CLOEXEC));
  ::unlink(name.c_str());
  return file;
}

// Submits all requests, as many at a time as fit; errors by tag.
std::map<std::uint64_t, int> run(TransferQueue& queue, std::vector<TransferRequest> const& all) {
  std::map<std::uint64_t, int> errors;
  auto next = all.begin();
  while (next != all.end() || queue.in_flight() > 0) {
    while (next != all.end() && !queue.full()) queue.submit(*next++);
    auto const done = queue.wait(kLong);
    if (!done) break;
    EXPECT_TRUE(errors.emplace(done->tag, done->error).second) << "done twice";
  }
  return errors;
}

// Odd sizes that cover `memory` without gaps, in a random order.
std::vector<TransferRequest> pieces(Direction direction, int file, std::span<std::byte> memory,
                                    unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<TransferRequest> all;
  for (std::size_t first = 0; first < memory.size();) {
    auto const bytes = std::min<std::size_t>(1 + random() % 50'000, memory.size() - first);
    all.push_back({direction, file, memory.subspan(first, bytes), static_cast<std::int64_t>(first),
                   all.size()});
    first += bytes;
  }
  std::ranges::shuffle(all, random);
  return all;
}

class EveryBackend : public testing::TestWithParam<std::tuple<std::optional<Backend>, int>> {
 protected:
  // Null where this machine lacks it; posix is everywhere. `memory` is registered with `uring`, if
  // the system lets us.
  std::unique_ptr<TransferQueue> make(std::span<std::byte> memory) {
    auto const [backend, depth] = GetParam();
    try {
      auto queue = make_transfer_queue({backend, depth}).queue;
      if (backend == Backend::uring) queue->register_memory(std::array{memory});
      return queue;
    } catch (Error const&) {
      EXPECT_NE(backend, Backend::posix);
      return nullptr;
    }
  }
};

TEST_P(EveryBackend, moves_every_byte_once) {
  PageMemory const memory(3 << 20), back(3 << 20);
  auto const queue = make(memory.span().first(1 << 20));  // the rest is not registered
  if (!queue) GTEST_SKIP() << "not on this machine";
  EXPECT_EQ(queue->depth(), std::get<1>(GetParam()));
  std::minstd_rand random(1);
  for (auto& byte : memory.span()) byte = static_cast<std::byte>(random());
  auto const file = scratch_file();
  auto const writes = pieces(Direction::write, file.get(), memory.span(), 2);
  for (auto const& [tag, error] : run(*queue, writes)) EXPECT_EQ(error, 0) << tag;
  auto const reads = pieces(Direction::read, file.get(), back.span(), 3);
  auto const errors = run(*queue, reads);
  EXPECT_EQ(errors.size(), reads.size());
  for (auto const& [tag, error] : errors) EXPECT_EQ(error, 0) << tag;
  EXPECT_EQ(std::memcmp(memory.span().data(), back.span().data(), memory.size), 0);
}

TEST_P(EveryBackend, names_what_failed) {
  PageMemory const memory(1 << 20);
  auto const queue = make(memory.span());
  if (!queue) GTEST_SKIP() << "not on this machine";
  auto const file = scratch_file();
  ASSERT_EQ(::ftruncate(file.get(), 1000), 0);
  auto const few = memory.span().first(10);
  auto const errors = run(*queue, {{Direction::read, file.get(), memory.span().first(1001), 0, 7},
                                   {Direction::read, file.get(), few, 5000, 8},
                                   {Direction::write, 9999, few, 0, 9},
                                   {Direction::read, file.get(), few, 990, 10}});
  EXPECT_EQ(errors, (std::map<std::uint64_t, int>{{7, EIO}, {8, EIO}, {9, EBADF}, {10, 0}}));
}

TEST_P(EveryBackend, waits_no_longer_than_told_and_names_what_is_under_way) {
  PageMemory const memory(4096);
  auto const queue = make(memory.span());
  if (!queue) GTEST_SKIP() << "not on this machine";
  EXPECT_FALSE(queue->wait(kLong)) << "nothing is in flight";
  if (std::get<0>(GetParam()) == Backend::posix) return;  // pread refuses pipes
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  FileDescriptor const out(ends[0]);
  FileDescriptor in(ends[1]);
  queue->submit({Direction::read, out.get(), memory.span().first(100), -1, 1});
  EXPECT_FALSE(queue->wait(0.01));
  EXPECT_EQ(queue->in_flight(), 1);
  EXPECT_TRUE(queue->outstanding().starts_with("read of 100 bytes at -1 for 0."))
      << queue->outstanding();
  ASSERT_EQ(::write(in.get(), memory.span().data(), 100), 100);
  auto const done = queue->wait(kLong);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->error, 0);
  EXPECT_EQ(queue->outstanding(), "");
}

// Nothing else ends these waits: who is not woken hangs.
TEST_P(EveryBackend, is_woken_by_other_threads) {
  PageMemory const memory(4096);
  auto const queue = make(memory.span());
  if (!queue) GTEST_SKIP() << "not on this machine";
  auto const file = scratch_file();
  ASSERT_EQ(::ftruncate(file.get(), 4096), 0);
  queue->wake();  // before anything is in flight
  for (int i = 0; i < 200; ++i) {
    std::jthread const other([&] { queue->wake(); });
    queue->submit({Direction::read, file.get(), memory.span(), 0, 1});
    int done = 0;
    while (done == 0) done += queue->wait(kLong) ? 1 : 0;  // wakes may come before and after
  }
  if (std::get<0>(GetParam()) == Backend::posix) return;  // pread refuses pipes
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  FileDescriptor const out(ends[0]), in(ends[1]);
  queue->submit({Direction::read, out.get(), memory.span().first(1), -1, 1});
  while (queue->wait(0.01)) {
  }
  for (int i = 0; i < 200; ++i) {
    std::jthread const other([&] { queue->wake(); });
    EXPECT_FALSE(queue->wait(kLong));
    EXPECT_EQ(queue->in_flight(), 1);
  }
  ASSERT_EQ(::write(in.get(), memory.span().data(), 1), 1);
  while (!queue->wait(kLong)) {  // a wake may be left
  }
}

INSTANTIATE_TEST_SUITE_P(, EveryBackend,
                         testing::Combine(testing::Values(std::nullopt, Backend::uring,
                                                          Backend::uring_plain, Backend::posix),
                                          testing::Values(1, 5, 32)));

TEST(TransferQueue, continues_short_transfers_and_keeps_errors_to_their_requests) {
  PageMemory const memory(1 << 18), back(1 << 18);
  std::minstd_rand random(1);
  for (auto& byte : memory.span()) byte = static_cast<std::byte>(random());
  for (unsigned seed = 1; seed <= 200; ++seed) {
    auto const file = scratch_file();
    auto const write = write_fully(file.get(), memory.span(), 0);
    ASSERT_EQ(write.error, 0);
    std::vector<std::uint64_t> failed;  // tags
    // Part of what it is asked for, now and then an error.
    auto const script = [&](TransferRequest const& rest) -> std::int64_t {
      auto const draw = random() % 100;
      if (draw < 5) return draw % 2 ? -EINTR : -EAGAIN;
      if (draw >= 7) return static_cast<std::int64_t>(1 + random() % rest.memory.size());
      failed.push_back(rest.tag);
      return -ENOSPC;
    };
    ScriptedQueue queue(1 + static_cast<int>(seed % 9), seed, script);
    std::memset(back.span().data(), 0, back.size);
    auto const requests = pieces(Direction::read, file.get(), back.span(), seed);
    auto const errors = run(queue, requests);
    ASSERT_EQ(errors.size(), requests.size());
    for (auto const& request : requests) {
      bool const lost = std::ranges::count(failed, request.tag) > 0;
      EXPECT_EQ(errors.at(request.tag), lost ? ENOSPC : 0);
      auto const* const expected = memory.span().data() + request.offset_bytes;
      if (lost) continue;
      EXPECT_EQ(std::memcmp(request.memory.data(), expected, request.memory.size()), 0);
    }
  }
}

// Its only operation moves a byte at a time, a while apart.
class OneByteAtATime final : public TransferQueue {
 public:
  OneByteAtATime() : TransferQueue(1) {}
  char const* backend() const override { return "one byte at a time"; }
  void wake() noexcept override {}

  std::vector<double> waits_s;

 private:
  void start(int, TransferRequest const&) noexcept override {}
  std::optional<Outcome> next(double timeout_s) noexcept override {
    waits_s.push_back(timeout_s);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Outcome{0, 1};
  }
};

// Else storage that still drips would never be called slow.
TEST(TransferQueue, waits_no_longer_for_what_comes_in_pieces) {
  PageMemory const memory(10);
  OneByteAtATime queue;
  queue.submit({Direction::read, 0, memory.span(), 0, 1});
  ASSERT_TRUE(queue.wait(kLong));
  ASSERT_EQ(queue.waits_s.size(), memory.size);
  for (std::size_t i = 0; i < queue.waits_s.size(); ++i)
    EXPECT_LE(queue.waits_s[i], kLong - 0.001 * static_cast<double>(i)) << i;
}

TEST(TransferQueue, waits_no_longer_than_clocks_count) {
  PageMemory const memory(1);
  OneByteAtATime queue;
  for (double const timeout_s : {5e8, 2e9, 1e300, double{INFINITY}}) {
    queue.submit({Direction::read, 0, memory.span(), 0, 1});
    ASSERT_TRUE(queue.wait(timeout_s));
  }
  ASSERT_EQ(queue.waits_s.size(), 4u);
  EXPECT_LE(queue.waits_s[0], 5e8);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(queue.waits_s[i], 1e9);
}

TEST(Backends, a_step_down_says_what_to_change) {
  auto const made = make_transfer_queue({std::nullopt, 4});
  ASSERT_TRUE(made.queue);
  EXPECT_EQ(made.why_not_uring.empty(), std::string_view(made.queue->backend()) == "uring-plain")
      << made.why_not_uring;
  EXPECT_EQ(made.why_not_uring.find('\n'), std::string::npos);
}

using Spans = std::vector<std::span<std::byte>>;

// A page that was registered and given back to the system stays with the ring, where transfers that
// still use it would move bytes that nobody sees.
TEST(UringQueue, moves_to_and_from_the_memory_that_was_registered_last) {
  int error = 0;
  auto const queue = make_uring_queue(4, error);
  if (!queue) GTEST_SKIP() << "no io_uring on this machine";
  PageMemory const memory(16 * 4096);
  auto const file = scratch_file();
  ASSERT_EQ(::ftruncate(file.get(), 16 * 4096), 0);
  auto const all = memory.span();
  auto const first = all.first(2 * 4096), third = all.subspan(3 * 4096, 4096);
  for (auto const& now : {Spans{all}, {first}, {first, third, all.last(4096)}, {}, {all}}) {
    ASSERT_EQ(queue->register_memory({}), 0);
    EXPECT_STREQ(queue->backend(), "uring-plain");
    ::madvise(all.data(), all.size(), MADV_DONTNEED);
    ASSERT_EQ(queue->register_memory(now), 0);
    EXPECT_STREQ(queue->backend(), now.empty() ? "uring-plain" : "uring");
    std::ranges::fill(all, std::byte{7});
    for (auto const& [tag, failed] : run(*queue, pieces(Direction::write, file.get(), all, 4)))
      EXPECT_EQ(failed, 0) << tag;
    std::ranges::fill(all, std::byte{0});
    for (auto const& part : {first, third, all.last(4096), all}) {
      auto const at = part.data() - all.data();
      EXPECT_EQ(run(*queue, {{Direction::read, file.get(), part, at, 1}}).at(1), 0);
      EXPECT_TRUE(std::ranges::all_of(part, [](std::byte b) { return b == std::byte{7}; })) << at;
    }
  }
}

TEST(UringQueue, refuses_what_cannot_be_registered_and_goes_on_without_it) {
  int error = 0;
  auto const queue = make_uring_queue(4, error);
  if (!queue) GTEST_SKIP() << "no io_uring on this machine";
  PageMemory const memory(4096);
  ASSERT_EQ(queue->register_memory(std::array{memory.span()}), 0);
  std::span const nowhere(reinterpret_cast<std::byte*>(4096), 4096);
  EXPECT_EQ(queue->register_memory(std::array{nowhere}), EFAULT);
  EXPECT_STREQ(queue->backend(), "uring-plain");
  auto const file = scratch_file();
  auto const errors = run(*queue, {{Direction::write, file.get(), memory.span(), 0, 1}});
  EXPECT_EQ(errors.at(1), 0);
}

}  // namespace
}  // namespace spillway::transfer_queue_test
