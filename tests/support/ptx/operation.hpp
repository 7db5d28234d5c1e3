// An Operation is an instruction that is ready to run: a function, and where its operands are.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/ptx/type.hpp"

namespace spillway::test::ptx {

struct Warp;
struct Operation;

using Lanes = std::uint32_t;  // a bit for each lane of a warp
using Slot = std::uint32_t;   // a place of 64 bytes among a warp's registers

inline constexpr unsigned kLanes = 32;
inline constexpr Lanes kAllLanes = ~Lanes{0};
inline constexpr std::size_t kSlotBytes = 64;  // a register of 64 bits has four slots

using Execute = void (*)(Warp&, Operation const&, Lanes);

enum class Flow : std::uint8_t {
  straight,
  branch,
  leave,
  warp_sync,  // waits for the lanes in `members` first
  block_sync,
  beyond_end  // stands behind the last instruction
};

struct Operation {
  Execute execute = nullptr;
  Flow flow = Flow::straight;
  Space space = Space::generic;
  std::uint8_t mode = 0;            // which of the functions that share an `execute`
  std::uint8_t bytes = 0;           // of an element in memory, a list or a conversion's source
  std::uint8_t register_bytes = 0;  // of the registers in `list`, or of a conversion's source
  std::uint8_t to_bytes = 0;        // of a conversion's destination register
  std::uint8_t address_bytes = 8;
  Type type = Type::none, to_type = Type::none;
  bool is_signed = false;
  bool is_strong = false;     // an access that may meet others: atomic, volatile, relaxed
  bool tracks_known = false;  // `execute` says itself which lanes of its results are known
  bool flushes = false, saturates = false;  // .ftz, .sat
  std::uint8_t negated = 0;                 // bit n: the predicate from[n] is negated
  bool guard_is_negated = false;
  Slot guard = 0;        // 0: none
  Slot to = 0, to2 = 0;  // 0: none
  std::array<Slot, 4> from{};
  Slot members = 0;  // a mask of lanes, in each lane
  Slot address = 0;
  std::int64_t offset = 0;  // of the address
  Slot address2 = 0;        // the source of a copy
  std::int64_t offset2 = 0;
  std::int64_t immediate = 0;
  int target = -1;
  std::uint8_t elements = 0;  // of the list; 0: any number
  std::vector<Slot> list = {};
};

}  // namespace spillway::test::ptx
