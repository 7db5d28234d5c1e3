#include "run/compute_here.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
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

template <std::size_t n>
void copy_text(std::string const& text, std::array<char, n>& to) {
  std::copy_n(text.begin(), std::min(text.size(), n - 1), to.begin());
}

OpenedDevice opened(Device const& device, Comm const& comm) {
  auto const properties = device.properties();
  OpenedDevice result{.node_leader = comm.node_leader()};
  copy_text(properties.id, result.id);
  copy_text(properties.name, result.name);
  copy_text(properties.target, result.target);
  return result;
}

// Devices that are alike have the same reason not to be used, which is said once.
SeenDevices seen_devices(FoundBackend const& found, Comm const& comm) {
  SeenDevices result{count_devices(found.backend), comm.node_leader(), comm.local_rank()};
  std::set<std::string> reasons;
  if (result.devices == 0) reasons.insert(why_no_device(found));
  auto const looked_at = std::min(result.devices, static_cast<int>(result.unusable.size()));
  for (int number = 0; number < looked_at; ++number) {
    auto const reason = why_not(*found.backend, number);
    if (reason.empty()) continue;
    result.unusable.set(static_cast<std::size_t>(number));
    reasons.insert(reason);
  }
  copy_text(fmt::format("{}", fmt::join(reasons, "; ")), result.why_none);
  result.has_driver = found.has_driver;
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
                         FoundBackend const& found, Comm& comm)
    : m_cores(std::move(cores)),
      m_choices(agreed_choices(config, m_cores, before, comm)),
      m_kernels(threads_on(m_cores, m_choices)) {
  auto const& asked = config.run.device;
  auto const seen = gathered(comm, seen_devices(found, comm));
  OpenedDevice mine;
  on_all_ranks(comm, [&] {
    auto const number = choose_device(asked, seen, comm.rank());
    if (!number) return;
    m_device = found.backend->open(*number);
    mine = opened(*m_device, comm);
  });
  if (m_device == nullptr) {
    auto const warning = warning_of_cores(asked, seen);
    if (comm.rank() == 0 && !warning.empty()) log_warning("{}", warning);
    m_where = describe_cores(comm.size(), m_choices.threads);
    m_compute.emplace(host_device(), host::kernels());
    return;
  }
  auto const all = gathered(comm, mine);
  on_all_ranks(comm, [&] {
    require_own_devices(asked, all);
    require_like_devices(asked, all);
  });
  m_where = describe_devices(all);
  std::optional<Kernels> kernels;
  on_all_ranks(comm, [&] { kernels = m_device_kernels.begin(*found.backend, *m_device); });
  m_compute.emplace(*m_device, *kernels, sharers(all, comm.rank()), found.backend->make_watch);
}

void ComputeHere::choose_for(Config const& config, Comm& comm) {
  m_choices = agreed_choices(config, m_cores, nullptr, comm);
}

DeviceKernels::~DeviceKernels() {
  if (m_backend != nullptr) m_backend->end_kernels();
}

Kernels DeviceKernels::begin(DeviceBackend const& backend, Device const& device) {
  auto const kernels = backend.begin_kernels(device);
  m_backend = &backend;
  auto const target =
      backend.target.empty() ? device.properties().target : std::string(backend.target);
  return {kernels, host::kernel, target};
}

}  // namespace spillway
