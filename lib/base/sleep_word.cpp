#include "base/sleep_word.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace spillway {
namespace {

constexpr int kLooks = 64;  // 64 looks take one or two microseconds

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void SleepWord::sleep_while(std::uint32_t seen) const {
  for (int look = 0; look < kLooks; ++look) {
    if (load() != seen) return;
    relax();
  }
  static_assert(sizeof(atomic) == sizeof(std::uint32_t));
  m_sleepers.fetch_add(1);
  // The kernel compares the value with `seen` once more before the thread sleeps, so that the
  // thread misses no change.
  while (load() == seen)
    ::syscall(SYS_futex, static_cast<atomic const*>(this), FUTEX_WAIT_PRIVATE, seen, nullptr);
  m_sleepers.fetch_sub(1);
}

void SleepWord::wake(int most) {
  ::syscall(SYS_futex, static_cast<atomic*>(this), FUTEX_WAKE_PRIVATE, most);
}

}  // namespace spillway
