// How the memory of a run passes from the places of one plan to those of another.
#pragma once

#include <cstdint>
#include <functional>

#include "comm/comm.hpp"
#include "plan/data/program.hpp"
#include "run/run_memory.hpp"

namespace spillway {

// `move` is what make_move(from, to) returns.
struct PlaceChange {
  Program const &from, &move, &to;
};

enum class Moved : std::uint8_t {
  state,       // all of it is where `to` has it, and memory fits `to`
  nothing,     // there is no memory to move in: state and memory are as before
  part_of_it,  // storage failed on the way: state is lost
};

// Collective. Call it while nothing runs. `run_move` runs the Program `move` on this rank and
// throws Error(storage) if storage failed. What else it throws is thrown as AgreedError. Memory
// holds both plans until the move has run; only then it gives back what `to` does not need.
Moved change_places(RunMemory& memory, Comm& comm, PlaceChange const& change,
                    std::function<void()> const& run_move);

}  // namespace spillway
