// Limits how many more threads the process can start.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>

#include "tests/support/resource_limit.hpp"

namespace spillway::test {

// The Error that start_threads() throws has this text if the system cannot start a thread.
inline constexpr char const* kNoThread =
    "the system starts no more threads: Resource temporarily unavailable; raise the limit (ulimit "
    "-u, or pids.max of the job's control group)";

// While this object lives, the process can start at most `most` more threads: the stack of a new
// thread takes 1 GiB of addresses, and the process may use only `most` + 1/2 GiB more of them.
class FewThreads {
 public:
  explicit FewThreads(int most)
      : m_limit(RLIMIT_AS, addresses() + (2 * static_cast<rlim_t>(most) + 1) * kHalf) {
    EXPECT_EQ(::pthread_getattr_default_np(&m_before), 0);
    pthread_attr_t attributes;
    EXPECT_EQ(::pthread_getattr_default_np(&attributes), 0);
    EXPECT_EQ(::pthread_attr_setstacksize(&attributes, 2 * kHalf), 0);
    EXPECT_EQ(::pthread_setattr_default_np(&attributes), 0);
    ::pthread_attr_destroy(&attributes);
  }
  ~FewThreads() {
    ::pthread_setattr_default_np(&m_before);
    ::pthread_attr_destroy(&m_before);
  }
  FewThreads(FewThreads const&) = delete;
  FewThreads& operator=(FewThreads const&) = delete;

 private:
  static constexpr std::size_t kHalf = std::size_t{1} << 29;

  static rlim_t addresses() {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE));
  }

  ResourceLimit m_limit;
  pthread_attr_t m_before{};
};

}  // namespace spillway::test
