// Which device this program computes on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "comm/comm.hpp"
#include "config/load.hpp"
#include "kernels/scope.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Holds what the ops of this process run on, from the kernels' runtime on.
class ComputeHere {
 public:
  // Collective. `asked` is run.device, `threads` are those of the compute lane on the host. Throws
  // AgreedError: bad_input if there is no such device, device if it cannot be opened.
  ComputeHere(std::string_view asked, std::int64_t threads, Comm& comm);

  Compute const& operator*() const { return *m_compute; }
  Compute const* operator->() const { return &*m_compute; }

 private:
  KernelScope m_kernels;
  std::unique_ptr<Device> m_device;  // null: the host's
  std::optional<Compute> m_compute;
};

// For load_config: says whether a run with this Config computes beside a device of this machine.
ForMachine where_it_computes(Config const& config);

// Returns a line for each device with memory of its own that this program can use.
std::string devices_text();

}  // namespace spillway
