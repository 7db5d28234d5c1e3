// Computes elements of quantized matrices (graph/quantized.hpp), as bitsandbytes' functions
// dequantize_4bit and int8_vectorwise_dequant do for a result of fp32. Each operation is rounded as
// it is written, so all devices give the same bits. Elements are numbered row by row, and those
// with equal numbers / unit() share a scale.
#pragma once

#include <cstdint>

#include "base/function.hpp"
#include "graph/quantized.hpp"

namespace spillway {

SPILLWAY_FUNCTION float const* floats_at(std::uint8_t const* bytes) {
  return reinterpret_cast<float const*>(bytes);
}

class Int8Elements {
 public:
  Int8Elements(std::uint8_t const* bytes, std::int64_t rows, std::int64_t columns)
      : m_codes(bytes),
        m_tops(floats_at(bytes + quantized_bytes(Quantization::int8, rows, columns).scales)),
        m_columns(columns) {}

  SPILLWAY_FUNCTION std::int64_t unit() const { return m_columns; }
  SPILLWAY_FUNCTION float scale(std::int64_t row) const { return m_tops[row]; }
  SPILLWAY_FUNCTION float value(std::int64_t element, float scale) const {
    constexpr float reciprocal = 7.874015718698502e-3f;  // of 127
    return static_cast<float>(static_cast<std::int8_t>(m_codes[element])) * scale * reciprocal;
  }

 private:
  std::uint8_t const* m_codes;
  float const* m_tops;
  std::int64_t m_columns;
};

class Nf4Elements {
 public:
  Nf4Elements(std::uint8_t const* bytes, std::int64_t rows, std::int64_t columns) {
    auto const at = quantized_bytes(Quantization::nf4, rows, columns);
    m_codes = bytes;
    m_scales = bytes + at.scales;
    m_group_scales = floats_at(bytes + at.group_scales);
    m_mean = floats_at(bytes + at.mean);
    m_scale_values = floats_at(bytes + at.scale_values);
    m_values = floats_at(bytes + at.values);
  }

  SPILLWAY_FUNCTION std::int64_t unit() const { return kNf4Block; }
  SPILLWAY_FUNCTION float scale(std::int64_t block) const {
    return m_scale_values[m_scales[block]] * m_group_scales[block / kNf4Group] + *m_mean;
  }
  SPILLWAY_FUNCTION float value(std::int64_t element, float scale) const {
    auto const both = m_codes[element / 2];
    return m_values[element % 2 == 0 ? both >> 4 : both & 15] * scale;
  }

 private:
  std::uint8_t const *m_codes, *m_scales;
  float const *m_group_scales, *m_mean, *m_scale_values, *m_values;
};

}  // namespace spillway
