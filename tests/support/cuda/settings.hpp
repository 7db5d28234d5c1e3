// What a test asks of the stand-in, and how it asks.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace spillway::test::cuda {

// How soon the device does what it may do: at once, only when somebody asks for its end, or as the
// seed says.
enum class Laziness { eager, latest, by_seed };

struct Settings {
  std::uint64_t seed = 1;
  Laziness laziness = Laziness::by_seed;
  std::int64_t memory_bytes = std::int64_t{1} << 30;  // of each device
  std::int64_t taken_bytes = 0;                       // of it by other programs
  int devices = 1;
  // Says whether pieces of work must also be ordered that meet in the device's memory.
  bool watches_device_memory = true;
};

// Ends all work, forgets complaints, faults, counts and clocks, and which device this thread has
// chosen and its last error. What was made stays.
void reset(Settings const& settings = {});

// Names what was never destroyed, unregistered, unmapped or released.
std::vector<std::string> leftovers();
// Gives all of it back, as the end of a process does. No handle and no address means anything then.
void give_back_leftovers();

struct PlannedFault {
  enum class Kind {
    dropped,        // the call does nothing and returns success
    failed,         // it does nothing and returns `error`
    out_of_memory,  // the same with the error that says so
    sticky,         // it, and every later call, return `error`
    lost_device,    // the same with the error that says so
    stuck,          // the work that the call enqueues begins and never ends
  };
  std::string call;    // "cudaMemcpyAsync", "cuMemCreate"; "launch" is that of a kernel
  std::int64_t n = 0;  // the calls of this name since reset(), from 0
  Kind kind = Kind::failed;
  cudaError_t error = cudaErrorIllegalAddress;
};
void plan_fault(PlannedFault const& fault);
std::map<std::string, std::int64_t> calls();  // since reset(), by name
// Returns the numbers of the calls since reset(), by name, that could not but return success and
// change nothing: a wait for what the thread had to know, a question for an error where none was,
// a choice of the device that was chosen.
std::map<std::string, std::set<std::int64_t>> needless_calls();
std::vector<int> priorities();  // of the streams made since reset()

}  // namespace spillway::test::cuda
