#include "app/devices.hpp"

#include <fmt/core.h>

#include "app/device_backend.hpp"
#include "app/doctor_texts.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace spillway {
namespace {

std::string about(DeviceBackend const& backend, int number) {
  try {
    if (auto const why = why_not(backend, number); !why.empty()) throw Error(Status::device, why);
    auto const device = backend.open(number)->properties();
    return fmt::format("{}, {}, {} of {} free", device.name, device.target,
                       human_bytes(device.free_bytes), human_bytes(device.memory_bytes));
  } catch (Error const& error) {
    return fmt::format("cannot be used: {}", error.what());
  }
}

}  // namespace

FoundBackend const& device_backend(Config const& config) {
  static FoundBackend const none{nullptr, "run.device is cpu"};
  return config.run.device == "cpu" ? none : device_backend();
}

ForMachine where_it_computes(Config const& config) {
  bool const beside_device = has_usable_device(device_backend(config).backend);
  return beside_device ? ForMachine::here_beside_device : ForMachine::here;
}

std::string devices_text() {
  auto const& found = device_backend();
  auto const devices = count_devices(found.backend);
  if (devices == 0) return found_text("  no GPU", why_no_device(found));
  std::string text;
  for (int number = 0; number < devices; ++number)
    text += found_text(fmt::format("  {}:{}", found.backend->name, number),
                       about(*found.backend, number));
  return text;
}

}  // namespace spillway
