// Decides which device each rank computes on.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace spillway {

// What one rank knows before devices are opened. It is plain data, since ranks gather it.
struct SeenDevices {
  int devices = 0;  // how many the rank sees
  int node_leader = 0, local_rank = 0;
  // Says why it sees no device, or why it cannot use some of them. The text ends with 0, and is cut
  // if it is longer.
  std::array<char, 512> why_none{};
  bool has_driver = false;     // is FoundBackend::has_driver
  std::bitset<64> unusable{};  // which of its devices cannot be used, by number
};

// Returns the number of the device that `rank` opens, or nothing if it computes on the CPU, in
// which case all ranks do. `asked` is the value of run.device. Devices that cannot be used do not
// count. Throws Error(bad_input), which names a rank, if that rank lacks the device asked for or,
// with `auto`, has none although others do.
std::optional<int> choose_device(std::string_view asked, std::span<SeenDevices const> all,
                                 int rank);

// Returns a warning for a run that computes on the cores although nobody asked for them and a rank
// has a module and a driver, or "" if there is nothing to warn of.
std::string warning_of_cores(std::string_view asked, std::span<SeenDevices const> all);

// Identifies a device that a rank has opened. It is plain data, since ranks gather it.
struct OpenedDevice {
  int node_leader = 0;
  std::array<char, 64> id{};  // the device's DeviceProperties::id, and so on
  std::array<char, 256> name{};
  std::array<char, 32> target{};
};

// Returns how many ranks have the same device as `rank`.
int sharers(std::span<OpenedDevice const> all, int rank);

// Throws Error(bad_input) if ranks share a device although run.device does not name it by number.
void require_own_devices(std::string_view asked, std::span<OpenedDevice const> all);

// Throws Error(bad_input), which names two ranks and their devices, if these are of two kinds: all
// ranks make one plan, and multiply with the algorithms that rank 0's device has chosen.
void require_like_devices(std::string_view asked, std::span<OpenedDevice const> all);

// These functions say on what all ranks compute, such as "2 GPUs, NVIDIA H100 80GB HBM3 (sm_90),
// with 2 ranks" and "the cores with 2 ranks of 4 threads". The devices must be alike.
std::string describe_devices(std::span<OpenedDevice const> all);
std::string describe_cores(std::int64_t ranks, std::int64_t threads);

}  // namespace spillway
