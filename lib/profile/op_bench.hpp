// Runs one op of a Program on its own memory, bound as the engine binds it, and times it.
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

  // Says where an op runs: on the compute lane, or on the host lane with this many threads.
  struct On {
    std::int64_t host_threads = 0;  // 0: on the compute lane
    bool is_host() const { return host_threads > 0; }
  };
  // Returns the median of a few runs that follow a first one, or that one's time if the op takes
  // long. No cache holds the operands, unless is_cached() says that a step's tensors fit. Takes
  // memory for the operands meanwhile.
  double seconds(Op const& op, On lane);

  // Returns whether caches may hold all tensors of a step, and so an op's operands when it begins.
  static bool is_cached(Program const& program);

  // Returns the bytes of memory that seconds() takes meanwhile.
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
