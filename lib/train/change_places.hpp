// Moves the memory of a run from the places that one plan gives it to those of another plan.
#pragma once

#include <cstdint>
#include <functional>

#include "comm/comm.hpp"
#include "plan/data/program.hpp"
#include "run/run_memory.hpp"

namespace spillway {

// A PlaceChange says from which Program's places to which other Program's places state moves.
// `move` is the Program that make_move(from, to) returns.
struct PlaceChange {
  Program const &from, &move, &to;
};

enum class Moved : std::uint8_t {
  state,       // all state is where `to` has it, and memory fits `to`
  nothing,     // there is no memory for the move: nothing has changed
  state_lost,  // storage failed during the move
};

// All ranks must call this, while nothing runs. `run_move` runs the Program `move` on this rank and
// throws Error(storage) if storage failed. Anything else that it throws is thrown as AgreedError.
// Memory holds both plans until the move has run, and only then frees what `to` does not need.
Moved change_places(RunMemory& memory, Comm& comm, PlaceChange const& change,
                    std::function<void()> const& run_move);

}  // namespace spillway
