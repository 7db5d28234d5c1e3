#include "run/compute_here.hpp"

#include <algorithm>
#include <utility>

#include "base/affinity.hpp"
#include "base/log.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"
#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "plan/data/words.hpp"
#include "run/device_choice.hpp"

namespace spillway {
namespace {

OpenedDevice opened(Device const& device, Comm const& comm) {
  OpenedDevice result{.node_leader = comm.node_leader()};
  auto const id = device.properties().id;
  std::copy_n(id.begin(), std::min(id.size(), result.id.size() - 1), result.id.begin());
  return result;
}

// The checkpoint's Arithmetic `before` decides what `auto` means if the number of ranks is the
// same.
Choices agreed_choices(Config const& config, RunCores const& cores, Arithmetic const* before,
                       Comm& comm) {
  if (before != nullptr && before->ranks != cores.ranks) before = nullptr;
  Choices choices;
  on_all_ranks(comm,
               [&] { choices = choose(config, before, cores.fewest, cores.ranks, cores.limit); });
  if (before != nullptr && !config.run.threads && before->threads != cores.fewest &&
      choices.threads == before->threads)
    log_info(
        "run.threads: auto takes the checkpoint's {}, since sums depend on it; a rank has {} here",
        before->threads, count(cores.fewest, "core"));
  return choices;
}

// Threads inherit the cores of the thread that starts them. If there are more threads than cores,
// they may run on all cores.
int threads_on(RunCores const& cores, Choices const& choices) {
  if (choices.threads <= cores.mine) stay_on(cores.exclusive_cores);
  return static_cast<int>(choices.threads);
}

}  // namespace

ComputeHere::ComputeHere(Config const& config, RunCores cores, Arithmetic const* before,
                         DeviceBackend const* backend, Comm& comm)
    : m_cores(std::move(cores)),
      m_choices(agreed_choices(config, m_cores, before, comm)),
      m_kernels(threads_on(m_cores, m_choices)) {
  auto const& asked = config.run.device;
  auto const seen = gathered(comm, SeenDevices{backend != nullptr, count_devices(backend),
                                               comm.node_leader(), comm.local_rank()});
  OpenedDevice mine;
  on_all_ranks(comm, [&] {
    auto const number = choose_device(asked, seen, comm.rank());
    if (!number) return;
    m_device = backend->open(*number);
    mine = opened(*m_device, comm);
  });
  if (m_device == nullptr) {
    m_compute.emplace(host_device(), host::kernels());
    return;
  }
  auto const all = gathered(comm, mine);
  on_all_ranks(comm, [&] { require_own_devices(asked, all); });
  m_compute.emplace(*m_device, backend->kernels, sharers(all, comm.rank()), backend->make_watch);
}

}  // namespace spillway
