// Holds the state of what runs: a Run is a launch, with a Block at a time and the Warps of that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/ptx/code.hpp"
#include "tests/support/ptx/launch.hpp"
#include "tests/support/ptx/memory.hpp"
#include "tests/support/ptx/operation.hpp"
#include "tests/support/ptx/races.hpp"

namespace spillway::test::ptx {

// A generic address of one of these spaces is the space's own address with such a bit set.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 60;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{1} << 61;
inline constexpr std::uint64_t kParamWindow = std::uint64_t{1} << 62;

// A Place says which thread runs which instruction.
struct Place {
  std::uint32_t pc;
  unsigned thread;  // is the thread's number in its block
  Dim block;
};

// An UnknownOutput has bytes of global memory into which something unknown was stored. It is a
// complaint if they are unknown at the end.
struct UnknownOutput {
  std::uint8_t const* states;
  unsigned bytes;
  Place place;
};

struct Run {
  Code const& code;
  Memory const& memory;
  LaunchSettings const& settings;
  LaunchCounts counts = {};
  Races races{true};
  std::uint32_t epoch = 0;
  struct Begun {
    std::uint32_t first_epoch;
    std::uint64_t block;  // is the block's number in the grid
  };
  std::vector<Begun> begun = {};                                // has blocks as they began
  std::map<std::uint64_t, UnknownOutput> unknown_outputs = {};  // has the address as its key
  Region const* last_region = nullptr;
};

struct Block;

// A Group has lanes that are at the same instruction.
struct Group {
  std::uint32_t pc = 0;
  Lanes lanes = 0;
  bool waits = false;  // is true while they wait for other lanes of the warp
};

struct AsyncCopy {
  std::uint64_t to, from;
  unsigned bytes, source_bytes;  // after the source's bytes, zeros are written
  std::uint32_t group;
};

struct Warp {
  Block* block = nullptr;
  std::byte* frame = nullptr;  // points at its registers
  Lanes* known = nullptr;      // has the lanes of each slot that hold something known
  unsigned first_thread = 0;   // is the number of its first thread in the block
  Lanes begun = 0, alive = 0;
  std::uint32_t pc = 0;  // is the number of the instruction that runs
  std::vector<Group> groups = {};
  bool at_barrier = false;
  std::uint32_t barrier = 0, barrier_warps = 0;  // where it waits, until so many warps are there
  std::uint32_t epoch = 0;
  Past past = {};
  std::array<std::uint32_t, kLanes> time = {};
  std::array<Seen, kLanes> seen = {};
  std::array<std::vector<AsyncCopy>, kLanes> copies = {};
  std::array<std::uint32_t, kLanes> copy_group = {};  // counts each lane's commits of copies

  unsigned number() const { return first_thread / kLanes; }
  template <class T>
  T* lanes(Slot slot) const {
    return reinterpret_cast<T*>(frame + slot * kSlotBytes);
  }
  Lanes& predicate(Slot slot) const { return *lanes<Lanes>(slot); }
  void set_known(Slot slot, Lanes which, Lanes mask) const {
    known[slot] = (known[slot] & ~mask) | (which & mask);
  }
};

struct Block {
  Run& run;
  Dim at = {};
  std::uint32_t first_epoch = 0;
  std::vector<std::byte> shared = {}, local = {};  // local memory lies thread after thread
  std::vector<std::uint8_t> shared_states = {}, local_states = {};
  Races races{false};  // looks for races in shared memory
  std::vector<Warp> warps = {};
};

Place place_of(Warp const& warp, unsigned lane);
std::string describe(Run const& run, Place const& place);
[[noreturn]] void complain(Warp const& warp, unsigned lane, std::string_view what);
// Complains unless all lanes of the mask are known in this slot. Addresses, predicates, member
// masks and operands of atomic operations must be known.
void need_known(Warp const& warp, Slot slot, Lanes mask, std::string_view what);

inline unsigned first_lane(Lanes lanes) {
  return static_cast<unsigned>(__builtin_ctz(lanes));
}
template <class F>
void for_each_lane(Lanes lanes, F const& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(first_lane(lanes));
}

}  // namespace spillway::test::ptx
