// A Piece is work in a stream, such as a copy or a kernel. It goes on by stages, one with each
// decision that the scheduler takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/cuda/accesses.hpp"
#include "tests/support/cuda/clock.hpp"
#include "tests/support/cuda/order.hpp"

namespace spillway::test::cuda {

// A Record is what one call of cudaEventRecord makes.
struct Record {
  bool done = false;
  double seconds = 0;  // the time at which the record was done, by the host's clock
  int stream = -1;
  Mark asked;  // when a thread called cudaEventRecord
  Mark mark;   // the record's place in its stream
  // Maps a component to its time when it last asked for this record or let a stream wait for it.
  std::map<int, std::uint64_t> uses;
};

// These are bytes that the stand-in can touch: shadows, or main memory. `states` has a
// ptx::ByteState for each, or is null if all are known and stay so.
struct Bytes {
  std::byte* at = nullptr;
  std::int64_t size = 0;
  std::uint8_t* states = nullptr;
};
struct Source {
  std::byte const* at = nullptr;
  std::uint8_t* states = nullptr;
  bool is_of_host = false;  // means that the host may have changed bytes
};

void set_states(Bytes const& bytes, std::uint8_t value);
void move(Bytes const& to, Source const& from);

struct Piece {
  enum class Kind { copy, fill, kernel, record, wait };
  Kind kind = Kind::kernel;
  std::string label = {};
  Bytes to = {};
  Source from = {};                         // is what a copy reads
  std::vector<std::byte> staged = {};       // holds the source if the call has read it already
  int value = 0;                            // the byte that a fill writes
  std::vector<AddressRange> fresh = {};     // is NaN and unknown once the piece has begun
  std::function<void()> run = {};           // does the work of a kernel
  bool knows_bytes = false;                 // if true, that work says which bytes it makes known
  std::shared_ptr<Record> record = {};      // is made or awaited
  std::vector<MemoryAccess> accesses = {};  // has the addresses that callers of CUDA know
  bool stuck = false;                       // if true, the piece begins but never ends
  bool is_aside = false;                    // if true, it is not what its item is marked by
  std::shared_ptr<PieceMarks> marks = {};   // notes when the piece begins; may be null
  int stage = 0;

  // Returns whether the next decision about this piece may be taken now.
  bool may_go_on() const;
  // Goes on by one stage and returns true if that was the last one. In its first stage a piece
  // makes its results NaN. A copy or a fill then moves one half and the other, and a kernel then
  // runs.
  bool go_on();
  bool touches(AddressRange const& range) const;

 private:
  void make_fresh() const;
  bool go_on_moving();
  bool go_on_running();
};

}  // namespace spillway::test::cuda
