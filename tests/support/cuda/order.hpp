// What the program under test tells of itself: how its threads meet, what they touch, and where
// something begins and ends whose order a test wants to know. reset() makes all marks meaningless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tests/support/cuda/clock.hpp"

namespace spillway::test::cuda {

// Threads meet at a count, which never decreases and is named by any address. What a thread did
// before it let the count come to `until` has happened before what another does after it has seen
// the count there. What was released later does not count, even if the count had come further.
struct Order {
  static void release(void const* count, std::uint64_t until);
  static void acquire(void const* count, std::uint64_t position);
  // The count is no more, and another one may have its address.
  static void forget(void const* count);
  // From here on the calling thread is somebody else, named by any address: as such it knows only
  // what it has acquired as such.
  static void act_for(void const* whom);
};

// The release `n` since reset() tells nobody anything.
void drop_release(std::int64_t n);
std::int64_t releases();  // since reset()
// Returns whether somebody has acquired the dropped release without knowing already what it tells.
bool dropped_release_was_of_use();

Mark mark_here();
void learn(Mark const& mark);  // the calling thread knows of it, and what happened before

// The begin of the first and the end of the last of some pieces of work. They follow from the calls
// alone, so they are known as soon as they are enqueued; a component of -1 says that none is yet.
struct PieceMarks {
  std::string label;
  Mark begin, end;
  std::uint64_t begun = 0;  // when the first of them really began, see moment()
};
// Returns greater numbers later, of whatever thread.
std::uint64_t moment();

// Marks the copies, fills and kernels that this thread enqueues from now until one of these calls.
std::shared_ptr<PieceMarks const> mark_pieces(std::string label);
void mark_no_more_pieces();

// Says that this thread touches the bytes now. Only registered ones matter.
void host_access(std::span<std::byte const> bytes, bool is_write);

}  // namespace spillway::test::cuda
