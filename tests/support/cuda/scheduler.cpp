#include "tests/support/cuda/scheduler.hpp"

#include <thread>

#include "base/sleep_word.hpp"

namespace spillway::test::cuda {
namespace {

class DeviceThread {
 public:
  // The thread lives as long as the process, because libraries keep data for each thread.
  DeviceThread() {
    std::thread([this] { loop(); }).detach();
  }
  void run(std::function<void()> const& work) {
    m_work = &work;
    pass_to(kWork);
    wait_for(kIdle);
  }

 private:
  void loop() {
    for (;;) {
      wait_for(kWork);
      (*m_work)();
      pass_to(kIdle);
    }
  }

  static constexpr std::uint32_t kIdle = 0, kWork = 1;

  void pass_to(std::uint32_t turn) {
    m_turn = turn;
    m_turn.wake_one();
  }
  void wait_for(std::uint32_t turn) const { m_turn.sleep_while(1 - turn); }

  std::function<void()> const* m_work = nullptr;
  SleepWord m_turn;
};

}  // namespace

void Scheduler::serve(Demand& demand) {
  for (std::int64_t n = 0; n != demand.most && !demand.met(); ++n) {
    if (m_decide(demand.wanted)) continue;
    demand.none_can_go_on = true;
    return;
  }
}

void run_on_device_thread(std::function<void()> const& work) {
  static auto& thread = *new DeviceThread;
  thread.run(work);
}

}  // namespace spillway::test::cuda
