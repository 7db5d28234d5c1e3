// Runs one op of a Program on its own memory, bound as the engine binds it, and times it: on the
// compute lane in the device's memory, on the host lane in main memory.
#pragma once

#include <map>
#include <vector>

#include "plan/data/program.hpp"
#include "profile/compute_lane.hpp"
#include "profile/operand_memory.hpp"

namespace spillway {

class OpBench {
 public:
  OpBench(Program const& program, Compute const& compute);

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
  // Memory of one lane: for operands, and to flush caches with.
  struct Memory {
    OperandMemory operands, flush;
  };
  Memory& memory(On lane);
  std::vector<void*> place(Op const& op, OperandMemory& memory) const;
  void fill(Op const& op, Tensor const& tensor, OperandMemory& memory, std::int64_t offset) const;
  double run_s(Launch const& launch, Exec const& exec, void* const* operands, On lane);
  void flush_caches(On lane);

  Program const& m_program;
  Compute const& m_compute;
  Memory m_host, m_device;  // m_device is not used where the device has no memory of its own
  ComputeLane m_lane;       // ends before the memory that its work uses
};

}  // namespace spillway
