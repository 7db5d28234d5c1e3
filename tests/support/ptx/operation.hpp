// An Operation is an instruction that is ready to run: a function, and the slots of its operands.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/ptx/type.hpp"

namespace spillway::test::ptx {

struct Warp;
struct Operation;

using Lanes = std::uint32_t;  // has a bit for each lane of a warp

inline constexpr unsigned kLanes = 32;
inline constexpr Lanes kAllLanes = ~Lanes{0};

// A Slot is the number of a place of kSlotBytes among a warp's registers. A register has one value
// for each lane, so one of 64 bits takes four places. Fields that may lack a slot then hold 0.
using Slot = std::uint32_t;
inline constexpr std::size_t kSlotBytes = 64;

using Execute = void (*)(Warp&, Operation const&, Lanes);

enum class Flow : std::uint8_t {
  straight,
  branch,
  leave,
  warp_sync,  // first waits for the lanes in `members`
  block_sync,
  beyond_end  // follows the last instruction, and must not be reached
};

struct Operation {
  Execute execute = nullptr;
  Flow flow = Flow::straight;
  Space space = Space::generic;
  std::uint8_t mode = 0;  // picks one of the functions that share an `execute`
  // These are widths: of an element in memory or in `list`, of the registers in `list` or of a
  // conversion's source, of a conversion's destination, and of the register with an address.
  std::uint8_t bytes = 0, register_bytes = 0, to_bytes = 0, address_bytes = 8;
  Type type = Type::none, to_type = Type::none;
  bool is_signed = false;
  bool is_strong = false;     // marks an atomic, volatile or relaxed access, which may meet others
  bool tracks_known = false;  // means that `execute` itself notes which results are known
  bool flushes = false;       // is set by .ftz
  bool saturates = false;     // is set by .sat
  std::uint8_t negated = 0;   // has bit n set if the predicate from[n] is negated
  bool guard_is_negated = false;
  Slot guard = 0;
  Slot to = 0, to2 = 0;
  std::array<Slot, 4> from{};
  Slot members = 0;  // holds each lane's mask of the lanes that take part
  Slot address = 0;
  std::int64_t offset = 0;
  // The source of a copy is at this address and offset.
  Slot address2 = 0;
  std::int64_t offset2 = 0;
  std::int64_t immediate = 0;
  int target = -1;
  std::uint8_t elements = 0;  // says how long `list` must be; 0 allows any length
  std::vector<Slot> list = {};
};

}  // namespace spillway::test::ptx
