// ProductChoices say how a library of a device multiplies matrices. A library has several
// algorithms for a product, which add in different orders, so that the choice among them decides
// bits.
#pragma once

#include <map>
#include <string>

namespace spillway {

struct ProductChoices {
  // Names the device and the library that the algorithms are of, such as "NVIDIA H100 80GB HBM3,
  // cublasLt 13.0.2". It is empty if kernels choose nothing, as on the host.
  std::string made_by = {};
  // Holds, by the text of a product's shape, the text of its algorithm. Only the kernels that have
  // chosen the algorithms can read these texts.
  std::map<std::string, std::string> algorithms = {};

  bool operator==(ProductChoices const&) const = default;
};

// Returns a text such as "2 of 40 products have other algorithms", or an empty one if both choose
// alike for all products that both know.
std::string describe_difference(ProductChoices const& before, ProductChoices const& now);

}  // namespace spillway
