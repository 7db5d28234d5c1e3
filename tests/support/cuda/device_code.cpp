#include "tests/support/cuda/device_code.hpp"

#include <algorithm>

#include "tests/support/cuda/executed.hpp"
#include "tests/support/cuda/fat_binary.hpp"
#include "tests/support/ptx/parse.hpp"

namespace spillway::test::cuda {

LoadedCode::LoadedCode(void const* wrapper, int architecture)
    : m_module(ptx::parse(ptx_of(wrapper, architecture))) {
  begin_counting(m_module);
}

ptx::Code const& LoadedCode::kernel(std::string const& name) {
  auto const found = m_kernels.find(name);
  if (found != m_kernels.end()) return found->second;
  auto const address_of = [&](std::string const& variable) {
    return m_globals.address_of(variable);
  };
  return m_kernels.emplace(name, ptx::decode(m_module, name, address_of)).first->second;
}

ptx::Region const* LoadedCode::variable(std::string const& name) const {
  bool const exists = std::ranges::any_of(m_module.variables, [&](auto const& variable) {
    return variable.name == name && variable.space != ptx::Space::shared;
  });
  return exists ? m_memory.find(m_globals.address_of(name), 0) : nullptr;
}

LoadedCode& FatBinary::loaded(int device, int architecture) {
  auto& result = on_device[{device, architecture}];
  if (!result) result = std::make_unique<LoadedCode>(wrapper, architecture);
  return *result;
}

FatBinary* DeviceCode::add(void const* wrapper) {
  auto binary = std::make_unique<FatBinary>(FatBinary{.wrapper = wrapper});
  auto* const result = binary.get();
  m_binaries.emplace(result, std::move(binary));
  return result;
}

void DeviceCode::remove(FatBinary* binary) {
  std::erase_if(m_functions, [&](auto const& f) { return f.second.binary == binary; });
  std::erase_if(m_variables, [&](auto const& v) { return v.second.binary == binary; });
  m_binaries.erase(binary);
}

DeviceFunction* DeviceCode::function(void const* host) {
  auto const found = m_functions.find(host);
  return found == m_functions.end() ? nullptr : &found->second;
}

DeviceVariable* DeviceCode::variable(void const* host) {
  auto const found = m_variables.find(host);
  return found == m_variables.end() ? nullptr : &found->second;
}

bool DeviceCode::has(DeviceFunction const* function) const {
  return std::ranges::any_of(m_functions, [&](auto const& f) { return &f.second == function; });
}

std::optional<ptx::Region> DeviceCode::variable_around(std::uint64_t address,
                                                       std::size_t bytes) const {
  for (auto const& [at, binary] : m_binaries) {
    for (auto const& [device, loaded] : binary->on_device) {
      auto const* const region = loaded ? loaded->variables().find(address, bytes) : nullptr;
      if (region != nullptr) return *region;
    }
  }
  return {};
}

}  // namespace spillway::test::cuda
