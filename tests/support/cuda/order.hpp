// What the program under test tells of itself: how its threads meet, what they touch, and where
// something begins and ends whose order a test wants to know. reset() makes all marks meaningless.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "tests/support/cuda/clock.hpp"

namespace spillway::test::cuda {

// An object of the host by which threads meet: a lock, a counter, a bell. What a thread did before
// it released the object has happened before what another does after it acquired it.
struct Order {
  static void release(void const* object);
  static void acquire(void const* object);
};

Mark mark_here();

// The begin and the end of a piece of work. They follow from the calls alone, so they are known as
// soon as it is enqueued; a component of -1 says that it is not yet.
struct PieceMarks {
  std::string label;
  Mark begin, end;
};
// Marks the next copy, fill or kernel that this thread enqueues.
std::shared_ptr<PieceMarks const> mark_next_piece(std::string label);

// Says that this thread touches the bytes now. Only registered ones matter.
void host_access(std::span<std::byte const> bytes, bool is_write);

}  // namespace spillway::test::cuda
