#include "app/devices.hpp"

#include <fmt/core.h>

#include "app/device_backend.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace spillway {

ForMachine where_it_computes(Config const& config) {
  bool const beside_device = config.run.device != "cpu" && count_devices(device_backend()) > 0;
  return beside_device ? ForMachine::here_beside_device : ForMachine::here;
}

std::string devices_text() {
  std::string text;
  for (int number = 0; number < count_devices(device_backend()); ++number) {
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
