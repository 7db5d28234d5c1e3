// Sets limits of this process that last as long as an object.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

namespace spillway::test {

// While this object lives, the soft limit of the resource `what` is `value`, or the hard limit if
// that is less. The hard limit does not change.
class ResourceLimit {
 public:
  using What = decltype(RLIMIT_AS);

  ResourceLimit(What what, rlim_t value) : m_what(what) {
    EXPECT_EQ(::getrlimit(what, &m_before), 0);
    rlimit const now{std::min(value, m_before.rlim_max), m_before.rlim_max};
    EXPECT_EQ(::setrlimit(what, &now), 0);
  }
  ~ResourceLimit() { ::setrlimit(m_what, &m_before); }
  ResourceLimit(ResourceLimit const&) = delete;
  ResourceLimit& operator=(ResourceLimit const&) = delete;

 private:
  What m_what;
  rlimit m_before{};
};

// While this object lives, the process may map only `more_bytes` more than it has mapped. kWorks is
// false under sanitizers, which themselves map more memory than tests allow.
class MemoryLimit {
 public:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool kWorks = false;
#else
  static constexpr bool kWorks = true;
#endif
  explicit MemoryLimit(rlim_t more_bytes) : m_limit(RLIMIT_AS, mapped_bytes() + more_bytes) {}

 private:
  static rlim_t mapped_bytes() {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  }

  ResourceLimit m_limit;
};

// While this object lives, this process makes no file longer than `bytes`: a write beyond that
// length fails with EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes)
      : m_handler(std::signal(SIGXFSZ, SIG_IGN)), m_limit(RLIMIT_FSIZE, bytes) {}
  ~FileSizeLimit() { std::signal(SIGXFSZ, m_handler); }
  FileSizeLimit(FileSizeLimit const&) = delete;
  FileSizeLimit& operator=(FileSizeLimit const&) = delete;

 private:
  void (*m_handler)(int);
  ResourceLimit m_limit;
};

}  // namespace spillway::test
