#include "run/device_module.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include "run/module_build.hpp"

namespace spillway {
namespace {

FoundBackend none(std::string trouble) {
  return {nullptr, std::move(trouble)};
}

// RTLD_NOW finds at once that a library or a function is missing. Symbols stay the module's own.
void* open_now(char const* path) {
  AllocatorPass const pass;
  return ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

bool exists(char const* path) {
  return ::access(path, F_OK) == 0;
}

FoundBackend opened(std::string const& path) {
  void* const module = open_now(path.c_str());
  if (module == nullptr) return none(fmt::format("its module does not open: {}", ::dlerror()));
  auto const function =
      reinterpret_cast<DeviceModuleFunction>(::dlsym(module, kDeviceModuleFunction));
  if (function == nullptr) return none(fmt::format("{} is no module of spillway", path));
  auto const described = function();
  if (described.build != module_build())
    return none(fmt::format("{} is of another build ({}; this program: {}): install both from one",
                            path, described.build, module_build()));
  return {described.connect({write_log, g_lock_of_thread}), ""};
}

}  // namespace

std::string why_no_device(FoundBackend const& found) {
  return found.backend != nullptr ? found.backend->why_none() : found.trouble;
}

FoundBackend open_device_module(std::string const& path, DeviceDriver const* driver) {
  if (!exists(path.c_str()))
    return none("this spillway is built for CPUs; give cpu, or a build for GPUs");
  if (driver == nullptr) return opened(path);
  bool const opens = open_now(driver->library) != nullptr;
  auto found = opens ? opened(path) : none(fmt::format("there is no driver: {}", ::dlerror()));
  found.has_driver = opens || exists(driver->file);
  return found;
}

}  // namespace spillway
