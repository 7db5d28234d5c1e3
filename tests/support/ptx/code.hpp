// A kernel that is ready to run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/ptx/module.hpp"
#include "tests/support/ptx/operation.hpp"

namespace spillway::test::ptx {

inline constexpr std::size_t kReservedSharedBytes = 1024;  // as on sm_90: null is none of a block's
// Slots that every kernel has: zeros, which are always known; what is written there is never read;
// ones; and the carry of sums.
inline constexpr Slot kZeros = 0, kSink = 4, kOnes = 8, kCarry = 12, kFirstSlot = 13;

struct Constant {
  Slot slot;
  unsigned bytes;  // of a lane; 0: a predicate
  std::uint64_t value;
};
struct SpecialRegister {
  Slot slot;
  std::string name;
};

struct Code {
  Kernel const* kernel = nullptr;  // of the Module
  std::vector<Operation> operations = {};
  Slot slots = kFirstSlot;
  std::vector<Constant> constants = {};
  std::vector<SpecialRegister> specials = {};
  std::size_t shared_bytes =
      kReservedSharedBytes;     // with what is reserved, without what a launch adds
  std::size_t local_bytes = 0;  // of a thread
};

// Says at which address of a device a global variable lies.
using AddressOf = std::function<std::uint64_t(std::string const& variable)>;

// The Module must live as long as the Code. Throws Refused.
Code decode(Module const& module, std::string const& kernel, AddressOf const& address_of);

}  // namespace spillway::test::ptx
