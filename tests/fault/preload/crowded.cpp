// A machine that is busy, and has room for few threads: SPILLWAY_LOAD is what getloadavg says, and
// after SPILLWAY_THREADS calls of pthread_create there are no more.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" {

int getloadavg(double* loads, int count) noexcept {
  auto const* const load = std::getenv("SPILLWAY_LOAD");
  for (int i = 0; i < count; ++i) loads[i] = load != nullptr ? std::atof(load) : 0;
  return count;
}

int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*begin)(void*),
                   void* argument) noexcept {
  static std::atomic<long> made{0};
  auto const* const most = std::getenv("SPILLWAY_THREADS");
  if (most != nullptr && ++made > std::atol(most)) return EAGAIN;
  static auto* const next =
      reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, begin, argument);
}

}  // extern "C"
