#include "app/compute.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "app/device_backend.hpp"
#include "base/units.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"
#include "device/host/host_device.hpp"
#include "run/device_choice.hpp"

namespace spillway {
namespace {

int visible_devices() {
  return device_backend() != nullptr ? device_backend()->count() : 0;
}

OpenedDevice opened(Device const& device, Comm const& comm) {
  OpenedDevice result{.node_leader = comm.node_leader()};
  auto const id = device.properties().id;
  std::copy_n(id.begin(), std::min(id.size(), result.id.size() - 1), result.id.begin());
  return result;
}

}  // namespace

ComputeHere::ComputeHere(std::string_view asked, std::int64_t threads, Comm& comm)
    : m_kernels(static_cast<int>(threads)) {
  auto const seen = gathered(comm, SeenDevices{device_backend() != nullptr, visible_devices(),
                                               comm.node_leader(), comm.local_rank()});
  OpenedDevice mine;
  on_all_ranks(comm, [&] {
    auto const number = choose_device(asked, seen, comm.rank());
    if (!number) return;
    m_device = device_backend()->open(*number);
    mine = opened(*m_device, comm);
  });
  if (m_device == nullptr) {
    m_compute.emplace(host_device(), kernel, Exec());
    return;
  }
  auto const all = gathered(comm, mine);
  on_all_ranks(comm, [&] { require_own_devices(asked, all); });
  m_compute.emplace(*m_device, device_backend()->kernels, Exec(), sharers(all, comm.rank()),
                    device_backend()->make_watch);
}

ForMachine where_it_computes(Config const& config) {
  bool const beside_device = config.run.device != "cpu" && visible_devices() > 0;
  return beside_device ? ForMachine::here_beside_device : ForMachine::here;
}

std::string devices_text() {
  std::string text;
  for (int number = 0; number < visible_devices(); ++number) {
    auto const name = fmt::format("{}:{}", device_backend()->name, number);
    try {
      auto const device = device_backend()->open(number)->properties();
      text += fmt::format("  {:<18}{}, {}, {} of {} free\n", name, device.name, device.target,
                          human_bytes(device.free_bytes), human_bytes(device.memory_bytes));
    } catch (Error const& error) {
      text += fmt::format("  {:<18}cannot be used: {}\n", name, error.what());
    }
  }
  return text;
}

}  // namespace spillway
