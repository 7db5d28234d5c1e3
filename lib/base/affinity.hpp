// On which cores of the machine a thread may run.
#pragma once

#include <sched.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace spillway {

// The calling thread's cores, rising; none where the system does not tell.
std::vector<int> allowed_cores();

// The same of another system, for tests. It fills a set of so many bytes and returns 0 or an errno:
// EINVAL where it has more cores than the set has bits.
using TellAffinity = std::function<int(std::size_t bytes, cpu_set_t* set)>;
std::vector<int> allowed_cores(TellAffinity const& tell);

// Keeps this thread, and those that it will start, on `cores`; on all as before if there are none
// or the system refuses.
void stay_on(std::span<int const> cores);

}  // namespace spillway
