#include "app/devices.hpp"

#include <fmt/core.h>

#include "app/device_backend.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace spillway {

FoundBackend const& device_backend(Config const& config) {
  static FoundBackend const none{nullptr, "run.device is cpu"};
  return config.run.device == "cpu" ? none : device_backend();
}

ForMachine where_it_computes(Config const& config) {
  bool const beside_device = count_devices(device_backend(config).backend) > 0;
  return beside_device ? ForMachine::here_beside_device : ForMachine::here;
}

std::string devices_text() {
  auto const& found = device_backend();
  auto const devices = count_devices(found.backend);
  if (devices == 0) return fmt::format("  {:<18}{}\n", "no GPU", why_no_device(found));
  std::string text;
  for (int number = 0; number < devices; ++number) {
    auto const name = fmt::format("{}:{}", found.backend->name, number);
    try {
      auto const device = found.backend->open(number)->properties();
      text += fmt::format("  {:<18}{}, {}, {} of {} free\n", name, device.name, device.target,
                          human_bytes(device.free_bytes), human_bytes(device.memory_bytes));
    } catch (Error const& error) {
      text += fmt::format("  {:<18}cannot be used: {}\n", name, error.what());
    }
  }
  return text;
}

}  // namespace spillway
