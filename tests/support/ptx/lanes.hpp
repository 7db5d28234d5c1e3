// Applies functions to the lanes of registers.
#pragma once

#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "tests/support/ptx/table.hpp"
#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

// Copies the lanes of the mask between registers or buffers of 1, 2, 4 or 8 bytes a lane. What
// becomes wider is extended by its sign or by zeros, what becomes narrower is cut off.
void resize_lanes(void* to, unsigned to_bytes, void const* from, unsigned from_bytes,
                  bool is_signed, Lanes mask);

// Writes the lanes of the mask. Results are computed for all lanes, so that loops have no branches.
template <class T>
void write_lanes(Warp const& warp, Slot slot, T const (&values)[kLanes], Lanes mask) {
  resize_lanes(warp.lanes<T>(slot), sizeof(T), values, sizeof(T), false, mask);
}

// Returns the predicate of source n, negated if the instruction says so.
inline Lanes read_predicate(Warp const& warp, Operation const& o, unsigned n) {
  return warp.predicate(o.from[n]) ^ ((o.negated >> n & 1) != 0 ? kAllLanes : 0);
}
inline void write_predicate(Warp const& warp, Slot slot, Lanes values, Lanes mask) {
  auto& to = warp.predicate(slot);
  to = (to & ~mask) | (values & mask);
}

template <auto f, class Result, class... From, std::size_t... n>
void apply_to(Warp& warp, Operation const& operation, Lanes mask, Result (* /*f*/)(From...),
              std::index_sequence<n...> /*counts*/) {
  alignas(64) Result values[kLanes];
  auto const from = std::make_tuple(warp.lanes<From const>(operation.from[n])...);
  for (unsigned lane = 0; lane < kLanes; ++lane) values[lane] = f(std::get<n>(from)[lane]...);
  write_lanes(warp, operation.to, values, mask);
}
template <class Result, class... From>
constexpr std::index_sequence_for<From...> counts_of(Result (* /*f*/)(From...)) {
  return {};
}
// As an Execute, applies a function of plain numbers to each lane.
template <auto f>
void apply(Warp& warp, Operation const& operation, Lanes mask) {
  apply_to<f>(warp, operation, mask, f, counts_of(f));
}

// Returns the operands of a Form for such a function.
template <class Result, class... From>
std::string operands_of(Result (* /*f*/)(From...)) {
  std::string result = std::to_string(sizeof(Result)) + "=";
  return (result + ... + std::to_string(sizeof(From)));
}
template <auto f>
Operation& add_function(Table& table, std::string const& opcode) {
  return table.add(opcode, operands_of(f), apply<f>);
}

// Calls add(T{}, name) for every type of whole numbers, with the name that PTX gives it.
template <class Add>
void for_integers(Add const& add) {
  add(std::uint16_t{}, "u16");
  add(std::uint32_t{}, "u32");
  add(std::uint64_t{}, "u64");
  add(std::int16_t{}, "s16");
  add(std::int32_t{}, "s32");
  add(std::int64_t{}, "s64");
}

}  // namespace spillway::test::ptx
