// What a rank computes with on this machine: its cores, its threads and its device.
#pragma once

#include <memory>
#include <optional>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "job/cores.hpp"
#include "kernels/host/scope.hpp"
#include "run/device_backend.hpp"
#include "run/prepare.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Holds it for as long as this rank computes, from the kernels' runtime on.
class ComputeHere {
 public:
  // Collective. Chooses what `auto` leaves open, as choose() does, keeps this thread and those that
  // it will start on the rank's part of the cores (more threads than cores get all of them), and
  // opens the device that run.device names. `before`: the Arithmetic of the run that is resumed,
  // which counts if it had as many ranks, or null. `backend`: null if the program is
  // for the cores alone. Throws AgreedError: bad_input for threads or a device that there are not,
  // device if it cannot be opened.
  ComputeHere(Config const& config, RunCores cores, Arithmetic const* before,
              DeviceBackend const* backend, Comm& comm);

  RunCores const& cores() const { return m_cores; }
  Choices const& choices() const { return m_choices; }
  Compute const& operator*() const { return *m_compute; }
  Compute const* operator->() const { return &*m_compute; }

 private:
  RunCores m_cores;
  Choices m_choices;
  KernelScope m_kernels;
  std::unique_ptr<Device> m_device;  // null: the host's
  std::optional<Compute> m_compute;
};

}  // namespace spillway
