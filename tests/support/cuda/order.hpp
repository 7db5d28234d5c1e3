// With these functions, a watch of the program under test says how the program's threads meet and
// what they touch, and marks where work begins and ends, to check its order. reset() makes marks
// invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tests/support/cuda/clock.hpp"

namespace spillway::test::cuda {

// Threads meet at a count, which never decreases and is named by any address. A thread that
// acquires `position` learns what was done before the release that let the count come so far, and
// before earlier releases; of later ones it learns nothing, even if the count had come further.
struct Order {
  static void release(void const* count, std::uint64_t until);
  static void acquire(void const* count, std::uint64_t position);
  // Says that the count no longer exists, so that another count may have its address.
  static void forget(void const* count);
  // From now on the calling thread acts for another participant, named by any address, and knows
  // only what it has acquired while it acted for that participant.
  static void act_for(void const* whom);
};

// Release number `n` since reset(), from 0, tells nothing to threads that acquire it.
void drop_release(std::int64_t n);
std::int64_t releases();  // counts the releases since reset()
// Returns whether any thread acquired the dropped release without already knowing what it tells.
bool dropped_release_was_of_use();

Mark mark_here();  // returns the present moment of the calling thread
// The calling thread learns that the marked moment, and all before it, has happened.
void learn(Mark const& mark);

// PieceMarks hold the begin of the first and the end of the last of several pieces of work. Both
// marks follow from the calls alone, so they are known once the pieces are enqueued; before that,
// the component of both is -1.
struct PieceMarks {
  std::string label;
  Mark begin, end;
  std::uint64_t begun = 0;  // the moment() at which the first piece really began
};
// Returns a greater number with each call, on whatever thread.
std::uint64_t moment();

// Returns the marks of the copies, fills and kernels that this thread enqueues from now on, until
// it calls mark_pieces() again or mark_no_more_pieces().
std::shared_ptr<PieceMarks const> mark_pieces(std::string label);
void mark_no_more_pieces();

// Says that this thread touches these bytes now. Nothing is checked unless all of them are
// registered with CUDA, so that the device may touch them, too.
void host_access(std::span<std::byte const> bytes, bool is_write);

}  // namespace spillway::test::cuda
