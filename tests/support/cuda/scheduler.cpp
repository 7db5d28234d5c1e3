#include "tests/support/cuda/scheduler.hpp"

#include <thread>

namespace spillway::test::cuda {
namespace {

class DeviceThread {
 public:
  // It lives as long as the process, as libraries keep things of a thread.
  DeviceThread() {
    std::thread([this] { loop(); }).detach();
  }
  void run(std::function<void()> const& work) {
    m_work = &work;
    m_begin.release();
    m_end.acquire();
  }

 private:
  void loop() {
    for (;;) {
      m_begin.acquire();
      (*m_work)();
      m_end.release();
    }
  }

  std::function<void()> const* m_work = nullptr;
  std::binary_semaphore m_begin{0}, m_end{0};
};

}  // namespace

void Scheduler::serve(Demand& demand) {
  for (std::int64_t n = 0; n != demand.most && !demand.met(); ++n) {
    if (m_decide(demand.wanted)) continue;
    demand.dry = true;
    return;
  }
}

void run_on_device_thread(std::function<void()> const& work) {
  static auto& thread = *new DeviceThread;
  thread.run(work);
}

}  // namespace spillway::test::cuda
