// Touches say what each execution of a Program's items does to memory; the Interleaver
// (interleave.hpp) simulates them. An execution is one run of an item. Memory is cut into cells
// wherever an access begins or ends, so that every access uses whole cells.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway::test {

struct Failure {
  ItemNumber item = -1;  // the item that saw or did something wrong
  std::string why;
};

// A Touch is one cell that an execution reads or writes.
struct Touch {
  int cell;
  BufferId buffer;
  // For a read, `expected` is the execution whose value must be there, or -1 for the value from
  // before step 0. `own` is true if the same execution writes the cell as well, through the same
  // buffer.
  int expected = -1;
  bool own = false;
};

// A Result says which value a cell must have after a step, because the caller of the Program reads
// it.
struct Result {
  int after;  // the step's last execution
  Touch touch;
};

struct Execution {
  ItemNumber item;
  std::size_t lane;
  int position;  // counts the executions on its lane, from 0
  // Each pair names a lane and how many executions, from its first one on, must have finished.
  std::vector<std::pair<std::size_t, int>> waits;
  std::vector<Touch> reads, writes;
};

struct Touches {
  std::vector<Execution> executions;    // step by step, in the order of the items
  std::vector<std::vector<int>> lanes;  // lists the executions of each lane
  std::vector<BufferId> owners;         // the persistent buffer to which each cell belongs, or -1
  std::vector<Result> results;
  std::optional<Failure> hopeless;  // set if the Program fails in every order of executions
};

Touches touches(Program const& program, int steps);

}  // namespace spillway::test
