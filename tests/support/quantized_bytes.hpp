// The bytes of a quantized matrix, made of its elements.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/formulas/quantizer.hpp"

namespace spillway::test {

// Gives the elements to a Quantizer in pieces of so many.
inline std::vector<std::byte> bytes_of(Quantized const& quantized,
                                       std::vector<float> const& elements,
                                       std::size_t piece = 1000) {
  auto const at = quantized_bytes(quantized.form, quantized.rows(), quantized.columns());
  std::vector<std::byte> bytes(static_cast<std::size_t>(at.all));
  Quantizer quantizer(quantized, [&](std::int64_t first, std::span<std::byte const> some) {
    std::ranges::copy(some, bytes.begin() + first);
  });
  std::span<float const> left = elements;
  while (!left.empty()) {
    auto const size = std::min(piece, left.size());
    quantizer.add(left.first(size));
    left = left.subspan(size);
  }
  return bytes;
}

// Returns the numbers of bytes, as a KernelHarness takes them.
inline std::vector<double> numbers_of(std::vector<std::byte> const& bytes) {
  std::vector<double> numbers;
  for (auto const byte : bytes) numbers.push_back(std::to_integer<int>(byte));
  return numbers;
}

}  // namespace spillway::test
