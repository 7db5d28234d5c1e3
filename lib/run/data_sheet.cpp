#include "run/data_sheet.hpp"

#include <algorithm>

namespace spillway {
namespace {

// NVIDIA's data sheets of each product; for GeForce and RTX A6000 the white papers of their
// architectures (GA102, Ada, RTX Blackwell). Figures with sparsity are halved.
constexpr DataSheet kSheets[] = {
    {"NVIDIA A10", 125e3, 31.2e3, 600},
    {"NVIDIA A30", 165e3, 10.3e3, 933},
    {"NVIDIA A40", 149.7e3, 37.4e3, 696},
    {"NVIDIA A100-PCIE-40GB", 312e3, 19.5e3, 1555},
    {"NVIDIA A100-SXM4-40GB", 312e3, 19.5e3, 1555},
    {"NVIDIA A100 80GB PCIe", 312e3, 19.5e3, 1935},
    {"NVIDIA A100-SXM4-80GB", 312e3, 19.5e3, 2039},
    {"NVIDIA H100 PCIe", 756.5e3, 51e3, 2000},
    {"NVIDIA H100 80GB HBM3", 989.5e3, 67e3, 3350},
    {"NVIDIA H100 NVL", 835.5e3, 60e3, 3900},
    {"NVIDIA H200", 989.5e3, 67e3, 4800},
    {"NVIDIA H200 NVL", 835.5e3, 60e3, 4800},
    {"NVIDIA GH200 480GB", 989.5e3, 67e3, 4000},
    {"NVIDIA GH200 144G HBM3e", 989.5e3, 67e3, 4900},
    {"NVIDIA B200", 2250e3, 0, 8000},
    {"NVIDIA L4", 121e3, 30.3e3, 300},
    {"NVIDIA L40S", 362.05e3, 91.6e3, 864},
    {"NVIDIA RTX A6000", 154.8e3, 38.7e3, 768},
    {"NVIDIA GeForce RTX 3090", 71e3, 35.6e3, 936},
    {"NVIDIA GeForce RTX 4090", 165.2e3, 82.6e3, 1008},
    {"NVIDIA GeForce RTX 5090", 209.5e3, 104.8e3, 1792},
};

}  // namespace

std::span<DataSheet const> data_sheets() {
  return kSheets;
}

DataSheet const* data_sheet_of(std::string_view device_name) {
  auto const* const found = std::ranges::find(kSheets, device_name, &DataSheet::name);
  return found == std::end(kSheets) ? nullptr : found;
}

}  // namespace spillway
