// A module of another build, which must not be connected.
#include <cstdlib>

#include "run/device_module.hpp"

extern "C" [[gnu::visibility("default")]] spillway::DeviceModule spillway_device_module() {
  return {"0.0.1 of yesterday, GNU 1.0",
          [](spillway::ProgramServices const&) -> spillway::DeviceBackend const* { std::abort(); }};
}
