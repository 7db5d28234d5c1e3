// Decides which device each rank computes on.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace spillway {

// What one rank knows before any device is opened; plain data that ranks gather.
struct SeenDevices {
  bool offered = false;  // whether the program is for such devices
  int devices = 0;       // how many the rank sees
  int node_leader = 0, local_rank = 0;
};

// Returns the number of the device that `rank` opens, or nothing if it computes on the cores.
// `asked` is run.device. Equal on all ranks in what kind it is. Throws Error(bad_input), naming the
// rank, if somebody lacks what was asked for, or, with `auto`, what others have.
std::optional<int> choose_device(std::string_view asked, std::span<SeenDevices const> all,
                                 int rank);

// A device that a rank has opened; plain data that ranks gather.
struct OpenedDevice {
  int node_leader = 0;
  std::array<char, 64> id{};  // DeviceProperties::id
};

// Returns how many ranks have the device of `rank`.
int sharers(std::span<OpenedDevice const> all, int rank);

// Throws Error(bad_input) if ranks share a device and run.device did not name it.
void require_own_devices(std::string_view asked, std::span<OpenedDevice const> all);

}  // namespace spillway
