// Says which calls of CUDA belong to training steps.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace spillway::test::cuda {

using Calls = std::map<std::string, std::int64_t>;  // counts by name, as calls() returns them

// Returns whether a call enqueues work, waits for it or asks about it. All other calls make, load,
// register or give back something.
inline bool belongs_to_steps(std::string const& name) {
  static std::set<std::string> const names = {"launch",
                                              "cudaLaunchKernel",
                                              "cudaMemcpyAsync",
                                              "cudaMemsetAsync",
                                              "cudaEventRecord",
                                              "cudaEventQuery",
                                              "cudaEventElapsedTime",
                                              "cudaStreamWaitEvent",
                                              "cudaStreamSynchronize",
                                              "cudaGetLastError",
                                              "cudaHostGetDevicePointer",
                                              "cudaSetDevice"};
  return names.contains(name);
}

// Returns the names of calls that do not belong to steps and whose counts differ between the two.
inline std::vector<std::string> differing_calls(Calls one, Calls other) {
  std::set<std::string> all;
  for (auto const& calls : {one, other})
    for (auto const& [name, count] : calls) all.insert(name);
  std::vector<std::string> names;
  for (auto const& name : all) {
    if (!belongs_to_steps(name) && one[name] != other[name]) names.push_back(name);
  }
  return names;
}

}  // namespace spillway::test::cuda
