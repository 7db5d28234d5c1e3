// Gives the program spillway_on_stand_in its devices. The environment variables
// SPILLWAY_STAND_IN_DEVICES, _MEMORY (bytes), _TAKEN (bytes) and _SEED set the Settings with these
// names. SPILLWAY_STAND_IN_FAULT is "CALL:N:KIND", a PlannedFault on rank 0 alone.
// SPILLWAY_STAND_IN_CALLS names a file to which the counts of all calls are written.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>

#include "app/device_backend.hpp"
#include "device/cuda/cuda_device.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/engine_order.hpp"
#include "tests/support/cuda/kernel.hpp"
#include "tests/support/cuda/settings.hpp"

namespace spillway {
namespace {

using namespace test;

std::int64_t number_in(char const* variable, std::int64_t otherwise) {
  auto const* const text = std::getenv(variable);
  return text != nullptr ? std::stoll(text) : otherwise;
}

bool is_first_rank() {
  for (auto const* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (number_in(variable, 0) != 0) return false;
  }
  return true;
}

void plan_fault_in_environment() {
  static std::map<std::string, cuda::PlannedFault::Kind> const kinds = {
      {"failed", cuda::PlannedFault::Kind::failed},
      {"sticky", cuda::PlannedFault::Kind::sticky},
      {"out_of_memory", cuda::PlannedFault::Kind::out_of_memory},
      {"lost_device", cuda::PlannedFault::Kind::lost_device},
      {"stuck", cuda::PlannedFault::Kind::stuck}};
  auto const* const variable = std::getenv("SPILLWAY_STAND_IN_FAULT");
  if (variable == nullptr || *variable == '\0' || !is_first_rank()) return;
  std::string const text = variable;
  auto const first = text.find(':'), second = text.find(':', first + 1);
  cuda::plan_fault({.call = text.substr(0, first),
                    .n = std::stoll(text.substr(first + 1)),
                    .kind = kinds.at(text.substr(second + 1))});
}

// Checks the stand-in when the process ends. If there are complaints, or if something was not given
// back, the process ends with status 99.
class Judge {
 public:
  Judge() {
    cuda::reset({.seed = static_cast<std::uint64_t>(number_in("SPILLWAY_STAND_IN_SEED", 1)),
                 .memory_bytes = number_in("SPILLWAY_STAND_IN_MEMORY", std::int64_t{1} << 30),
                 .taken_bytes = number_in("SPILLWAY_STAND_IN_TAKEN", 0),
                 .devices = static_cast<int>(number_in("SPILLWAY_STAND_IN_DEVICES", 1))});
    plan_fault_in_environment();
  }
  ~Judge() {
    if (auto const* const path = std::getenv("SPILLWAY_STAND_IN_CALLS")) {
      std::ofstream file(path);
      for (auto const& [name, count] : cuda::calls()) file << name << ' ' << count << '\n';
    }
    auto wrong = cuda::complaints();
    for (auto& what : cuda::leftovers()) wrong.push_back("not given back: " + what);
    for (auto const& what : wrong) fmt::print(stderr, "stand-in: {}\n", what);
    if (!wrong.empty()) ::_exit(99);
  }
};

int count() noexcept {
  static Judge const judge;
  return cuda_device_count();
}

}  // namespace

FoundBackend const& device_backend() {
  static DeviceBackend const on_stand_in{
      .name = "cuda",
      .count = count,
      .why_none = [] { return std::string("SPILLWAY_STAND_IN_DEVICES is 0"); },
      .open = open_cuda_device,
      .begin_kernels = [](Device const&) { return cuda::cuda_stand_in_kernels(); },
      .end_kernels = []() noexcept {},
      .target = kHostTarget,
      .make_watch = cuda::make_engine_order,
  };
  static FoundBackend const found{&on_stand_in};
  return found;
}

}  // namespace spillway
