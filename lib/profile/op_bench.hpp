// An OpBench runs one op of a Program on memory of its own, bound as the engine binds it, and times
// it. As in a run, ops of the compute lane use the device's memory and, for what the device
// exchanges with the host, main memory. Ops of the host lane use main memory.
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

  // An On says where an op runs: on the compute lane, or on the host lane with this many threads.
  struct On {
    std::int64_t host_threads = 0;  // 0 means the compute lane
    bool is_host() const { return host_threads > 0; }
  };
  // Returns the time of a few runs after a first run (undisturbed_time), or the first run's time if
  // the op takes long. Before each run, the operands are flushed from caches, unless is_cached().
  // Takes memory for the operands meanwhile.
  double seconds(Op const& op, On lane);

  // Returns whether caches may hold all tensors of a step, and so an op's operands when it begins.
  static bool is_cached(Program const& program);

  // Returns how many bytes of memory seconds() takes for the op.
  std::int64_t operand_bytes(Op const& op) const;

 private:
  // A Memory is what one lane uses: memory for operands, for those of them that are exchanged with
  // the host, and to flush caches with.
  struct Memory {
    OperandMemory operands, exchanged, flush;
  };
  // Says where an op's tensors are, each in one of a Memory's two parts.
  struct Placed {
    struct Place {
      OperandMemory Memory::*part;
      std::int64_t offset;
    };
    std::map<TensorId, Place> tensors;
    std::int64_t bytes = 0, exchanged_bytes = 0;
  };
  bool has_main_memory_alone(On lane) const;
  Placed placed(Op const& op, On lane) const;
  Memory& memory(On lane);
  std::vector<void*> place(Op const& op, On lane);
  void fill(Op const& op, Tensor const& tensor, OperandMemory& memory, std::int64_t offset) const;
  double run_s(Launch const& launch, Exec const& exec, void* const* operands, On lane);
  void flush_caches(On lane);

  Program const& m_program;
  Compute const& m_compute;
  Memory m_host, m_device;  // m_device is not used if the device has no memory of its own
  ComputeLane m_lane;       // declared last, to end before the memory that its work uses
};

}  // namespace spillway
