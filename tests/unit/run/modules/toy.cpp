// A module of this build, whose backend sees no device.
#include "run/device_module.hpp"
#include "run/module_build.hpp"

namespace {

using namespace spillway;

ProgramServices g_program;

// Returns -1 if the calling thread may not allocate although a pass exists.
int count() noexcept {
  AllocatorPass const pass;
  return g_program.lock_of_thread() ? -1 : 0;
}

DeviceBackend const* connect(ProgramServices const& program) {
  g_program = program;
  g_lock_of_thread = program.lock_of_thread;
  static DeviceBackend const backend{
      .name = "toy",
      .count = count,
      .why_none =
          [] {
            g_program.write_log(LogLevel::warning, "a toy was asked");
            return std::string("toys have none");
          },
  };
  return &backend;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] spillway::DeviceModule spillway_device_module() {
  static auto const build = spillway::module_build();
  return {build.c_str(), connect};
}
