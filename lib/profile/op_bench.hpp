// Runs one op of a Program on memory of its own, bound as the engine binds it, and times it.
#pragma once

#include <map>
#include <vector>

#include "base/pages.hpp"
#include "plan/data/program.hpp"

namespace spillway {

class Exec;

class OpBench {
 public:
  OpBench(Program const& program, Exec const& exec);

  // Where an op runs: on the compute lane, or on the host lane with so many threads.
  struct On {
    std::int64_t host_threads = 0;  // 0: on the compute lane
    bool is_host() const { return host_threads > 0; }
  };
  // Median of a few runs after one that sets things up; of an op that takes long, that one. No
  // cache holds the operands, unless all that a step touches might be there. Takes memory for its
  // operands while it measures.
  double seconds(Op const& op, On lane);

  // Whether all that a step touches might be in caches when an op begins.
  static bool is_cached(Program const& program);

  // What it takes meanwhile.
  std::int64_t operand_bytes(Op const& op) const;

 private:
  struct Placed {
    std::map<TensorId, std::int64_t> offsets;
    std::int64_t bytes = 0;
  };
  Placed placed(Op const& op) const;
  std::vector<void*> place(Op const& op);
  void fill(Op const& op, Tensor const& tensor, std::byte* to) const;
  void flush_caches();

  Program const& m_program;
  Exec const& m_exec;
  Pages m_memory, m_flush;
};

}  // namespace spillway
