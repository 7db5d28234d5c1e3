// Tests control the stand-in through these functions.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace spillway::test::cuda {

// Says how soon the device does what it may do: at once, only when somebody asks for its end, or as
// the seed says.
enum class Laziness { eager, latest, by_seed };

struct Settings {
  std::uint64_t seed = 1;
  Laziness laziness = Laziness::by_seed;
  std::int64_t memory_bytes = std::int64_t{1} << 30;  // the size of each device's memory
  std::int64_t taken_bytes = 0;                       // how much of it other programs have taken
  int devices = 1;
  // Says whether pieces of work that use the same device memory must be ordered, too.
  bool watches_device_memory = true;
};

// Ends all work and forgets complaints, faults, counts and clocks, and also this thread's chosen
// device and last error. Streams, events and memory stay.
void reset(Settings const& settings = {});

// Names all that was not destroyed, unregistered, unmapped or released.
std::vector<std::string> leftovers();
// Gives all of it back, as the end of a process does. All handles and addresses become invalid.
void give_back_leftovers();

struct PlannedFault {
  enum class Kind {
    dropped,        // the call does nothing and returns success
    failed,         // it does nothing and returns `error`
    out_of_memory,  // the call does nothing and returns cudaErrorMemoryAllocation
    sticky,         // this and every later call return `error`
    lost_device,    // this and every later call return cudaErrorDevicesUnavailable
    stuck,          // the work that the call enqueues begins and never ends
  };
  std::string call;    // like "cudaMemcpyAsync" or "cuMemCreate"; "launch" means a kernel's launch
  std::int64_t n = 0;  // which of the calls of this name since reset(), from 0
  Kind kind = Kind::failed;
  cudaError_t error = cudaErrorIllegalAddress;
};
void plan_fault(PlannedFault const& fault);
std::map<std::string, std::int64_t> calls();  // counts the calls since reset() by name
// Returns by name the numbers of the calls since reset() that could only succeed and change
// nothing: a wait for what the thread had to know, a question for an error when there was none, or
// the choice of a device that was chosen already.
std::map<std::string, std::set<std::int64_t>> needless_calls();
std::vector<int> priorities();  // returns the priorities of streams that were made since reset()

}  // namespace spillway::test::cuda
