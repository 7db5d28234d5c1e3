// One piece of work in a stream, and the decisions by which it goes on.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/cuda/accesses.hpp"
#include "tests/support/cuda/clock.hpp"
#include "tests/support/cuda/order.hpp"

namespace spillway::test::cuda {

// One call of cudaEventRecord.
struct Record {
  bool done = false;
  double seconds = 0;  // when it was done
  int stream = -1;
  Mark asked;                         // when a thread called it
  Mark mark;                          // the moment in its stream
  std::map<int, std::uint64_t> uses;  // when threads last asked for it or let a stream wait for it
};

// Bytes that can be touched: shadows, or main memory.
struct Bytes {
  std::byte* at = nullptr;
  std::int64_t size = 0;
};

struct Piece {
  enum class Kind { copy, fill, kernel, record, wait };
  Kind kind = Kind::kernel;
  std::string label = {};
  Bytes to = {};
  std::byte const* from = nullptr;          // of a copy
  std::vector<std::byte> staged = {};       // what `from` points to, if the call has read it itself
  int value = 0;                            // of a fill
  std::vector<Bytes> fresh = {};            // of a kernel: what it overwrites
  std::function<void()> run = {};           // of a kernel
  std::shared_ptr<Record> record = {};      // that is made or awaited
  std::vector<MemoryAccess> accesses = {};  // by the addresses that callers know
  bool stuck = false;                       // planned to begin and never to end
  std::shared_ptr<PieceMarks> marks = {};   // who wants to know when it begins, if anybody
  int stage = 0;

  // Says whether the next decision on it may be taken.
  bool may_go_on() const;
  // Takes the next decision: a begin, after which the result holds no number, a half, or the end.
  // Returns true at the end.
  bool go_on();
  bool touches(Range const& range) const;

 private:
  bool go_on_moving();
  bool go_on_running();
};

}  // namespace spillway::test::cuda
