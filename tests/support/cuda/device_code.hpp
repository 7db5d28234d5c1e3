// Holds what the program has registered to run on devices: fat binaries, their kernels and their
// variables. PTX is parsed when a device first needs it, a kernel decoded when it is first used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/ptx/code.hpp"
#include "tests/support/ptx/globals.hpp"

namespace spillway::test::cuda {

// A LoadedCode is the code of a fat binary on one device, with its variables there.
class LoadedCode {
 public:
  // Throws std::runtime_error or ptx::Refused if the PTX cannot be read.
  LoadedCode(void const* wrapper, int architecture);

  // Throws ptx::Refused if there is no such kernel, or an instruction that the interpreter lacks.
  ptx::Code const& kernel(std::string const& name);
  ptx::Memory const& variables() const { return m_memory; }
  // Returns null if no kernel uses the variable: the compiler then leaves it out.
  ptx::Region const* variable(std::string const& name) const;

 private:
  ptx::Module m_module;
  ptx::Memory m_memory;
  ptx::Globals m_globals{m_module, m_memory};
  std::map<std::string, ptx::Code> m_kernels;
};

struct FatBinary {
  void const* wrapper = nullptr;
  // By the number of a device and its architecture, which tests may change.
  std::map<std::pair<int, int>, std::unique_ptr<LoadedCode>> on_device = {};

  LoadedCode& loaded(int device, int architecture);
};

struct DeviceFunction {
  FatBinary* binary = nullptr;
  std::string name = {};
  std::map<int, std::size_t> most_dynamic_shared_bytes = {};  // has the devices where one was set
};
struct DeviceVariable {
  FatBinary* binary = nullptr;
  std::string name = {};
  std::size_t bytes = 0;
};

// Functions and variables are named by the addresses that they have for the host.
class DeviceCode {
 public:
  FatBinary* add(void const* wrapper);
  void remove(FatBinary* binary);  // removes its functions and variables, too
  void add_function(void const* host, DeviceFunction function) {
    m_functions[host] = std::move(function);
  }
  void add_variable(void const* host, DeviceVariable variable) {
    m_variables[host] = std::move(variable);
  }
  DeviceFunction* function(void const* host);  // returns null if there is none
  DeviceVariable* variable(void const* host);
  // Returns whether function() has returned this, which the program may have made up.
  bool has(DeviceFunction const* function) const;
  // Returns the variable in which these bytes of a device lie, if its fat binary has been loaded.
  std::optional<ptx::Region> variable_around(std::uint64_t address, std::size_t bytes) const;

 private:
  std::map<FatBinary*, std::unique_ptr<FatBinary>> m_binaries;
  std::map<void const*, DeviceFunction> m_functions;
  std::map<void const*, DeviceVariable> m_variables;
};

}  // namespace spillway::test::cuda
