// What a Program's steps do to memory, execution by execution: the data of the oracle
// (interleave.hpp). Memory is cut where any access begins or ends, into cells that are used as
// wholes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway::test {

struct Failure {
  ItemNumber item = -1;  // that saw or did something wrong
  std::string why;
};

struct Touch {  // one cell that an execution reads or writes
  int cell;
  BufferId buffer;
  int expected = -1;  // of reads: the execution whose value must be there; -1: what was there
  bool own = false;   // of reads: the execution writes it as well, through the same buffer
};

// What must be there after a step, because whoever runs the Program reads it.
struct Result {
  int after;  // the step's last execution
  Touch touch;
};

struct Execution {
  ItemNumber item;
  std::size_t lane;
  int position;                                    // on its lane, from 0
  std::vector<std::pair<std::size_t, int>> waits;  // lane, count that must be published
  std::vector<Touch> reads, writes;
};

struct Touches {
  std::vector<Execution> executions;    // in total order
  std::vector<std::vector<int>> lanes;  // executions per lane
  std::vector<BufferId> owners;         // per cell: the persistent buffer that it belongs to, or -1
  std::vector<Result> results;
  std::optional<Failure> hopeless;  // no execution whatever could be right
};

Touches touches(Program const& program, int steps);

}  // namespace spillway::test
