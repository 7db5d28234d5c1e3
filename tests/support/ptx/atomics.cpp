// Implements atom and red, for one lane of an instruction after the other.
#include <bit>
#include <cstring>
#include <type_traits>

#include "tests/support/ptx/access.hpp"
#include "tests/support/ptx/float_values.hpp"
#include "tests/support/ptx/lanes.hpp"

namespace spillway::test::ptx {
namespace {

enum class Atomic : std::uint8_t {
  add,
  min,
  max,
  inc,
  dec,
  bit_and,
  bit_or,
  bit_xor,
  exchange,
  compare_and_swap
};
constexpr std::string_view kAtomicNames[] = {"add", "min", "max", "inc",  "dec",
                                             "and", "or",  "xor", "exch", "cas"};

template <class T>
T updated(Atomic which, T old, T b, T c) {
  switch (which) {
    case Atomic::exchange:
      return b;
    case Atomic::compare_and_swap:
      return old == b ? c : old;
    case Atomic::min:
      return b < old ? b : old;
    case Atomic::max:
      return old < b ? b : old;
    case Atomic::add:
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(std::uint64_t(old) + std::uint64_t(b));
      else
        return canonical(old + b);
    default:
      break;
  }
  if constexpr (std::is_unsigned_v<T>) {
    switch (which) {
      case Atomic::inc:
        return old >= b ? T{0} : static_cast<T>(old + 1);
      case Atomic::dec:
        return old == 0 || old > b ? b : static_cast<T>(old - 1);
      case Atomic::bit_and:
        return old & b;
      case Atomic::bit_or:
        return old | b;
      case Atomic::bit_xor:
        return old ^ b;
      default:
        break;
    }
  }
  return old;
}

// PTX says that an addition of f32 in global memory takes and gives zeros for subnormal numbers,
// and in shared memory does not.
template <class T>
T updated_in(bool is_global, Atomic which, T old, T b, T c) {
  if constexpr (std::is_same_v<T, float>)
    if (is_global) return flushed(updated(which, flushed(old), flushed(b), c));
  return updated(which, old, b, c);
}

template <class T>
void atom(Warp& warp, Operation const& o, Lanes mask) {
  auto const which = static_cast<Atomic>(o.mode);
  auto const* const b = warp.lanes<T const>(o.from[0]);
  auto const* const c = warp.lanes<T const>(o.from[1]);
  need_known(warp, o.from[0], mask, "an operand of an atomic operation");
  need_known(warp, o.from[1], mask, "an operand of an atomic operation");
  auto const places = place(warp, address_of(o), mask, sizeof(T), Touch::write, true);
  auto const known = known_lanes(warp, places, mask, 0, sizeof(T));
  if (mask != known)
    complain(warp, first_lane(mask & ~known), "what an atomic operation updates was never written");
  alignas(64) T before[kLanes] = {};
  for_each_lane(mask, [&](unsigned lane) {
    std::memcpy(&before[lane], places.at[lane], sizeof(T));
    T const now = updated_in(places.is_global[lane], which, before[lane], b[lane], c[lane]);
    std::memcpy(places.at[lane], &now, sizeof(T));
  });
  if (o.to == 0) return;
  write_lanes(warp, o.to, before, mask);
  warp.set_known(o.to, kAllLanes, mask);
}

template <class T>
void add(Table& table, Atomic which, std::string const& type) {
  for (auto const& [space, space_name] : kSpaces) {
    if (space != Space::generic && space != Space::global && space != Space::shared) continue;
    for (auto const* const opcode : {"atom", "red"}) {
      bool const has_result = opcode[0] == 'a';
      bool const only_atom = which >= Atomic::exchange;
      if (!has_result && only_atom) continue;
      auto const width = std::to_string(sizeof(T));
      auto const operands = (has_result ? width + "=m" : "m") + width +
                            (which == Atomic::compare_and_swap ? width : "");
      auto const name = std::string(opcode) + (space_name.empty() ? "" : ".") +
                        std::string(space_name) + "." +
                        std::string(kAtomicNames[static_cast<std::size_t>(which)]) + "." + type;
      auto& o = table.add(name, operands, atom<T>);
      o.space = space;
      o.mode = static_cast<std::uint8_t>(which);
      o.tracks_known = true;
    }
  }
}

template <class T>
void add_order(Table& table, std::string const& type) {
  add<T>(table, Atomic::min, type);
  add<T>(table, Atomic::max, type);
}
template <class T>
void add_bits(Table& table, std::string const& type) {
  for (auto const which : {Atomic::bit_and, Atomic::bit_or, Atomic::bit_xor, Atomic::exchange,
                           Atomic::compare_and_swap})
    add<T>(table, which, type);
}

}  // namespace

void add_atomics(Table& table) {
  add<std::uint32_t>(table, Atomic::add, "u32");
  add<std::uint32_t>(table, Atomic::add, "s32");
  add<std::uint64_t>(table, Atomic::add, "u64");
  add<float>(table, Atomic::add, "f32");
  add<double>(table, Atomic::add, "f64");
  add<std::uint32_t>(table, Atomic::inc, "u32");
  add<std::uint32_t>(table, Atomic::dec, "u32");
  add_order<std::uint32_t>(table, "u32");
  add_order<std::int32_t>(table, "s32");
  add_order<std::uint64_t>(table, "u64");
  add_order<std::int64_t>(table, "s64");
  add<std::uint16_t>(table, Atomic::compare_and_swap, "b16");
  add_bits<std::uint32_t>(table, "b32");
  add_bits<std::uint64_t>(table, "b64");
  for (auto const* const opcode : {"atom", "red"})
    table.ignore(opcode, "relaxed acquire release acq_rel cta cluster gpu sys");
}

}  // namespace spillway::test::ptx
