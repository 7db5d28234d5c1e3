#include "tests/support/cuda/trap.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>
#include <stdexcept>

#include "tests/support/cuda/complaints.hpp"

namespace spillway::test::cuda {
namespace {

// A signal handler must not lock a mutex, so the ranges are in a table of atomics.
struct Trapped {
  std::atomic<std::uintptr_t> first = 0, last = 0;
};
constinit std::array<Trapped, 1024> g_trapped;

struct sigaction g_before {};

void put(char const* text) {
  [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text, std::strlen(text));
}

void put(std::uintptr_t number) {
  std::array<char, 24> digits{};
  auto i = digits.size() - 1;
  do {
    digits[--i] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  put(&digits[i]);
}

bool tell(std::uintptr_t address) {
  for (auto const& trapped : g_trapped) {
    auto const first = trapped.first.load();
    if (address < first || address >= trapped.last.load()) continue;
    put("the host touched byte ");
    put(address - first);
    put(" of device memory");
    if (*doing() != '\0') put(" while: ");
    put(doing());
    put("\n");
    return true;
  }
  return false;
}

// When the handler returns, the access is repeated and has the effect that it has without a
// handler.
void handle(int, siginfo_t* info, void*) {
  if (tell(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
    std::signal(SIGSEGV, SIG_DFL);
  } else {
    ::sigaction(SIGSEGV, &g_before, nullptr);
  }
}

void install() {
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, &g_before);
}

}  // namespace

void trap(AddressRange const& addresses) {
  static std::once_flag once;
  std::call_once(once, install);
  for (auto& trapped : g_trapped) {
    if (trapped.last.load() != 0) continue;
    trapped.first = addresses.first;
    trapped.last = addresses.last();
    return;
  }
  throw std::logic_error("the stand-in knows no more than 1024 ranges of addresses");
}

void do_not_trap(AddressRange const& addresses) {
  for (auto& trapped : g_trapped) {
    if (trapped.last.load() == addresses.last()) trapped.last = 0;
  }
}

}  // namespace spillway::test::cuda
