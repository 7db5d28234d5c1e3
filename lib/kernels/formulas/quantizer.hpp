// A Quantizer makes the bytes of a quantized matrix (graph/quantized.hpp) of its elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/quantized.hpp"

namespace spillway {

// Elements are given in the order of the tensor in files, in pieces of any size. With nf4 the bytes
// are those of bitsandbytes' quantize_4bit (blocksize 64, compress_statistics), but that the mean
// of scales is summed in fp64; with int8 those of its int8_vectorwise_quant. A matrix that is
// turned is held until all of it is there.
class Quantizer {
 public:
  // `put` is called with bytes and with the place where they begin among those of the parameter.
  using Put = std::function<void(std::int64_t at, std::span<std::byte const> bytes)>;
  Quantizer(Quantized quantized, Put put);

  void add(std::span<float const> elements);
  std::int64_t given() const { return m_given; }
  bool is_complete() const { return m_given == m_rows * m_columns; }

 private:
  std::int64_t unit() const;  // elements that share a scale
  void take(std::span<float const> elements);
  void encode(std::span<float const> elements);
  void encode_row(std::span<float const> row);
  void encode_block(std::span<float const> block);
  void end();
  void end_nf4();
  void put_floats(std::int64_t at, std::span<float const> floats);

  Quantized m_quantized;
  Put m_put;
  std::int64_t m_rows, m_columns;
  QuantizedBytes m_at;
  std::int64_t m_given = 0, m_encoded = 0;  // elements
  std::vector<float> m_turned;              // all elements so far, if the matrix is turned
  std::vector<float> m_rest;                // elements of a unit that is not whole yet
  std::vector<std::byte> m_codes;
  std::vector<float> m_tops;  // the largest magnitude of each unit
};

// The values that codes of 4 bits stand for (Dettmers et al., arXiv:2305.14314), and those that
// codes of 8 bits do: bitsandbytes' dynamic map with signs, to the bit.
std::array<float, kNf4Values> const& nf4_values();
std::array<float, kScaleValues> const& nf4_scale_values();

// Returns element i of a matrix that has these bytes, counted as in files.
std::function<float(std::int64_t)> elements_of(Quantized const& quantized,
                                               std::span<std::byte const> bytes);

}  // namespace spillway
