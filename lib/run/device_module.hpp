// A device module is a shared library that has the backend of one kind of device: its kernels, and
// what it links to, such as CUDA's libraries. The program opens it when a device is asked for, so
// that one program runs on machines with and without such devices.
#pragma once

#include <string>
#include <string_view>

#include "base/allocator_pass.hpp"
#include "base/log.hpp"
#include "run/device_backend.hpp"

namespace spillway {

// A module uses these of the program, because it has copies of its own of the same functions and
// variables.
struct ProgramServices {
  void (*write_log)(LogLevel, std::string_view);
  LockOfThread lock_of_thread;
};

// A module's only exported function returns this. Program and module exchange objects of C++, so
// `connect` may be called only if `build` is the program's own module_build()
// (run/module_build.hpp).
struct DeviceModule {
  char const* build;
  DeviceBackend const* (*connect)(ProgramServices const&);
};
using DeviceModuleFunction = DeviceModule (*)();
inline constexpr char kDeviceModuleFunction[] = "spillway_device_module";

// Has a backend, or says why there is none, as a part of a sentence.
struct FoundBackend {
  DeviceBackend const* backend = nullptr;
  std::string trouble = {};
  bool has_driver = false;  // whether a module is there, and a driver of its devices seems to be
};

// Says why count_devices(found.backend) is 0.
std::string why_no_device(FoundBackend const& found);

// The driver of a kind of devices: its library, and a file that the system has where it is loaded.
struct DeviceDriver {
  char const* library;
  char const* file;
};
inline constexpr DeviceDriver kCudaDriver{"libcuda.so.1", "/dev/nvidiactl"};

// Opens the module in the file `path`, which then stays open. `driver` is not null if its library
// must be there: without it a module could only say so, after it has loaded libraries of hundreds
// of megabytes. Never throws.
FoundBackend open_device_module(std::string const& path, DeviceDriver const* driver = nullptr);

}  // namespace spillway
