// The program under test says through these functions how its threads meet and what they touch, and
// marks where something begins and ends whose order a test checks. reset() makes all marks invalid.
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
  // The count no longer exists, so that another one may have its address.
  static void forget(void const* count);
  // From now on the calling thread acts for another participant, named by any address, and knows
  // only what it has acquired while it acted for that participant.
  static void act_for(void const* whom);
};

// Makes release number `n` since reset() tell nothing to those who acquire it.
void drop_release(std::int64_t n);
std::int64_t releases();  // counts the releases since reset()
// Returns whether anybody acquired the dropped release who did not already know what it tells.
bool dropped_release_was_of_use();

Mark mark_here();
// The calling thread learns that the marked moment, and all before it, has happened.
void learn(Mark const& mark);

// PieceMarks hold the begin of the first and the end of the last of several pieces of work. Both
// follow from the calls alone, so they are known once the work is enqueued; before that, their
// component is -1.
struct PieceMarks {
  std::string label;
  Mark begin, end;
  std::uint64_t begun = 0;  // the moment() at which the first piece really began
};
// Returns a greater number with each call, on whatever thread.
std::uint64_t moment();

// Marks the copies, fills and kernels that this thread enqueues until the next call of one of
// these.
std::shared_ptr<PieceMarks const> mark_pieces(std::string label);
void mark_no_more_pieces();

// Says that this thread touches the bytes now. Bytes that are not registered are ignored.
void host_access(std::span<std::byte const> bytes, bool is_write);

}  // namespace spillway::test::cuda
