// The state of what runs: a launch, one of its blocks, one of its warps.
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

// Generic addresses of these spaces are theirs with such a bit.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 60;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{1} << 61;
inline constexpr std::uint64_t kParamWindow = std::uint64_t{1} << 62;

// Which thread runs which instruction.
struct Place {
  std::uint32_t pc;
  unsigned thread;  // its number in the block
  Dim block;
};

// Bytes of global memory into which something unknown was stored; it is a complaint if they are
// unknown at the end.
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
    std::uint64_t block;  // its number
  };
  std::vector<Begun> begun = {};                                // the blocks, in their order
  std::map<std::uint64_t, UnknownOutput> unknown_outputs = {};  // by address
  Region const* last_region = nullptr;
};

struct Block;

// Lanes that are at the same instruction.
struct Group {
  std::uint32_t pc = 0;
  Lanes lanes = 0;
  bool waits = false;  // for other lanes of the warp
};

struct AsyncCopy {
  std::uint64_t to, from;
  unsigned bytes, source_bytes;  // zeros behind those of the source
  std::uint32_t group;
};

struct Warp {
  Block* block = nullptr;
  std::byte* frame = nullptr;  // its registers
  Lanes* known = nullptr;      // for each slot: in which lanes something known is there
  unsigned first_thread = 0;   // its number in the block
  Lanes begun = 0, alive = 0;
  std::uint32_t pc = 0;  // of the instruction that runs
  std::vector<Group> groups = {};
  bool at_barrier = false;
  std::uint32_t barrier = 0, barrier_warps = 0;  // at which it waits, and for how many warps
  std::uint32_t epoch = 0;
  Past past = {};
  std::array<std::uint32_t, kLanes> time = {};
  std::array<Seen, kLanes> seen = {};
  std::array<std::vector<AsyncCopy>, kLanes> copies = {};
  std::array<std::uint32_t, kLanes> copy_group = {};  // to which the next copies belong

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
  std::vector<std::byte> shared = {}, local = {};  // local: thread after thread
  std::vector<std::uint8_t> shared_states = {}, local_states = {};
  Races races{false};  // in shared memory
  std::vector<Warp> warps = {};
};

Place place_of(Warp const& warp, unsigned lane);
std::string describe(Run const& run, Place const& place);
[[noreturn]] void complain(Warp const& warp, unsigned lane, std::string_view what);
// Complains unless all lanes of the mask are known in this slot.
void need_known(Warp const& warp, Slot slot, Lanes mask, std::string_view what);

inline unsigned first_lane(Lanes lanes) {
  return static_cast<unsigned>(__builtin_ctz(lanes));
}
template <class F>
void for_each_lane(Lanes lanes, F const& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(first_lane(lanes));
}

}  // namespace spillway::test::ptx
