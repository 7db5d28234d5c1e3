// A Code is a kernel that is ready to run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/ptx/module.hpp"
#include "tests/support/ptx/operation.hpp"

namespace spillway::test::ptx {

// sm_90 reserves the first KiB of a block's shared memory, so that null is no address of a
// variable.
inline constexpr std::size_t kReservedSharedBytes = 1024;
// Every kernel has these slots: kZeros and kOnes hold zeros and ones, which are always known, kSink
// takes results that nobody reads, and kCarry holds the carry of sums.
inline constexpr Slot kZeros = 0, kSink = 4, kOnes = 8, kCarry = 12, kFirstSlot = 13;

struct Constant {
  Slot slot;
  unsigned bytes;  // is the width of a lane's value; a predicate has 0
  std::uint64_t value;
};
struct SpecialRegister {
  Slot slot;
  std::string name;
};

struct Code {
  Kernel const* kernel = nullptr;  // belongs to the Module
  std::vector<Operation> operations = {};
  Slot slots = kFirstSlot;
  std::vector<Constant> constants = {};
  std::vector<SpecialRegister> specials = {};
  // Counts a block's shared memory with the reserved bytes, but without those that a launch adds.
  std::size_t shared_bytes = kReservedSharedBytes;
  std::size_t local_bytes = 0;  // counts the local memory of one thread
};

// Returns the device address at which a global variable lies.
using AddressOf = std::function<std::uint64_t(std::string const& variable)>;

// Makes a Code of one kernel. The Module must live as long as the Code. Throws Refused, with the
// line, for an instruction that the table lacks or whose operands do not fit.
Code decode(Module const& module, std::string const& kernel, AddressOf const& address_of);

}  // namespace spillway::test::ptx
