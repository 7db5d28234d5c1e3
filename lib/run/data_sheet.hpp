// The peaks that NVIDIA's data sheets promise, by the names that CUDA gives devices.
#pragma once

#include <span>
#include <string_view>

namespace spillway {

// What one device can do at most. A figure of 0 is unknown.
struct DataSheet {
  std::string_view name;   // DeviceProperties::name, the whole of it
  double bf16_gflops = 0;  // dense products on tensor cores, summed in fp32
  double fp32_gflops = 0;  // fp32 without tensor cores: products never take TF32
  double memory_gbps = 0;
};
std::span<DataSheet const> data_sheets();

// Returns the data sheet of the device with this name, or null if it is not in the table.
DataSheet const* data_sheet_of(std::string_view device_name);

}  // namespace spillway
