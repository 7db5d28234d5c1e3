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

}  // namespace

std::string why_no_device(FoundBackend const& found) {
  return found.backend != nullptr ? found.backend->why_none() : found.trouble;
}

FoundBackend open_device_module(std::string const& path, char const* driver) {
  if (::access(path.c_str(), F_OK) != 0)
    return none("this spillway is built for CPUs; give cpu, or a build for GPUs");
  if (driver != nullptr && open_now(driver) == nullptr)
    return none(fmt::format("there is no driver: {}", ::dlerror()));
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

}  // namespace spillway
