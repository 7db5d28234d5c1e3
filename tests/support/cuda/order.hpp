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

// An object of the host by which threads meet: a lock, a counter, a bell. What a thread did before
// it released the object has happened before what another does after it acquired it.
struct Order {
  static void release(void const* object);
  static void acquire(void const* object);
};

Mark mark_here();

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
