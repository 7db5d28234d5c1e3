// These functions make Programs from a Graph and a Plan: they call `schedule`, `layout` and
// `derive_waits`, and `verify` proves the result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// A Compiled holds the Programs of a run. `eval` is empty if the run does not evaluate.
struct Compiled {
  Program train;
  std::optional<Program> eval;
};
// Makes Programs that have offsets but neither waits nor links: their peaks are known, but they can
// neither run nor be proved yet. `spare` is explained in schedule.hpp. Throws std::invalid_argument
// if the plan asks for what `schedule` does not offer, and std::logic_error if the plan is not
// normal.
Compiled compile_without_waits(Graph const& train, Graph const* eval, Plan const& plan,
                               std::int64_t micro_batches, std::int64_t ranks, Program spare = {});
// Proves that the Programs, which must have their waits, are correct. Throws std::logic_error if
// one is not correct, which would be a bug of this library.
void prove(Compiled const& compiled);
// Makes and proves Programs, which are then ready to run.
Compiled compile(Graph const& train, Graph const* eval, Plan const& plan,
                 std::int64_t micro_batches, std::int64_t ranks);

// Makes the Programs of inference graphs, whose Purpose is eval or generate. They share parameters
// and what is kept from step to step. `unified` means that device memory is main memory.
std::vector<Program> compile_inference(std::span<Graph const> graphs, std::int64_t ranks,
                                       bool unified);

}  // namespace spillway
