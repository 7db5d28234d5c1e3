// Tests control the stand-in through these functions.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace spillway::test::cuda {

// Says when the device does its work: `eager` at once, `latest` only when a thread waits for its
// end or asks about it, `by_seed` at times that the seed decides.
enum class Laziness { eager, latest, by_seed };

struct Settings {
  std::uint64_t seed = 1;
  Laziness laziness = Laziness::by_seed;
  std::int64_t memory_bytes = std::int64_t{1} << 30;  // the size of each device's memory
  std::int64_t taken_bytes = 0;                       // how much of it other programs have taken
  int devices = 1;
  // Has the compute capabilities of devices by their numbers, such as 80. Devices without one are
  // of 90, and in all else every device is one of 90.
  std::vector<int> architectures = {};
  // Says whether the order of accesses is checked for device memory, too, not only for main memory.
  bool watches_device_memory = true;

  int architecture(int device) const {
    auto const number = static_cast<std::size_t>(device);
    return number < architectures.size() ? architectures[number] : 90;
  }
};

// Ends all work and forgets complaints, faults, counts and clocks, and also this thread's chosen
// device and last error. Streams, events and memory stay.
void reset(Settings const& settings = {});

// Names all streams, events, memory and other objects that the program has not given back.
std::vector<std::string> leftovers();
// Gives back all that leftovers() names, as the end of a process does. All handles and addresses
// become invalid.
void give_back_leftovers();

struct PlannedFault {
  enum class Kind {
    dropped,        // the call does nothing and returns success
    failed,         // the call does nothing and returns `error`
    out_of_memory,  // the call does nothing and returns cudaErrorMemoryAllocation
    sticky,         // this and every later call return `error`
    lost_device,    // this and every later call return cudaErrorDevicesUnavailable
    stuck,          // the work that the call enqueues begins and never ends
    faulty,         // the kernel that the call launches fails: every later call returns `error`
  };
  std::string call;    // such as "cudaMemcpyAsync"; "launch" means a kernel's launch
  std::int64_t n = 0;  // the number of the call among those of its name, from 0
  Kind kind = Kind::failed;
  cudaError_t error = cudaErrorIllegalAddress;
};
void plan_fault(PlannedFault const& fault);
std::map<std::string, std::int64_t> calls();  // how often each was called since reset()
// Returns how many turns warps have had since reset(), which the seed decides.
std::uint64_t turns_of_warps();
// Returns, by name, the numbers of the calls since reset() that could only succeed and change
// nothing: waits for work of whose end the thread had to know already, questions for the last error
// when there was none, and choices of the device that the thread had already chosen.
std::map<std::string, std::set<std::int64_t>> needless_calls();
std::vector<int> priorities();  // returns the priorities of streams that were made since reset()

}  // namespace spillway::test::cuda
