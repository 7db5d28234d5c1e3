// Reads and sets on which cores of the machine a thread may run.
#pragma once

#include <sched.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace spillway {

// Returns the numbers of the cores on which the calling thread may run, in rising order. The list
// is empty if the system does not tell.
std::vector<int> allowed_cores();

// In tests, a TellAffinity replaces sched_getaffinity: it fills a set of `bytes` bytes and returns
// 0 or an errno, which is EINVAL if the machine has more cores than the set has bits.
using TellAffinity = std::function<int(std::size_t bytes, cpu_set_t* set)>;
std::vector<int> allowed_cores(TellAffinity const& tell);

// Keeps the calling thread, and threads that it starts later, on `cores`. Changes nothing if
// `cores` is empty or the system refuses.
void stay_on(std::span<int const> cores);

}  // namespace spillway
