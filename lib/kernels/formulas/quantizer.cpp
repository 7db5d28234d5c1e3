#include "kernels/formulas/quantizer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/formulas/dequantize.hpp"

namespace spillway {
namespace {

constexpr float kLeastTop = 1e-38f;  // by which bitsandbytes divides at least

float top_of(std::span<float const> elements) {
  float top = 0;
  for (float const element : elements) top = std::max(top, std::abs(element));
  return top;
}

// Halves of ways between neighbouring values: a number's code says how many of them are below it.
template <std::size_t n>
std::array<float, n - 1> bounds_of(std::array<float, n> const& values) {
  std::array<float, n - 1> bounds;
  for (std::size_t i = 0; i + 1 < n; ++i) bounds[i] = (values[i] + values[i + 1]) / 2;
  return bounds;
}

// Returns the elements as shares of their largest magnitude. bitsandbytes multiplies those of a
// block that is full by a reciprocal, and divides the others.
void scale_down(std::span<float const> elements, float top, bool is_full, float* shares) {
  auto const divisor = std::max(top, kLeastTop);
  auto const factor = 1 / divisor;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    auto const share = is_full ? elements[i] * factor : elements[i] / divisor;
    shares[i] = std::clamp(share, -1.0f, 1.0f);
  }
}

// Returns torch.linspace(0.1, 1, parts + 1) at `i`.
float boundary(int i, int parts) {
  float const step = (1.0f - 0.1f) / static_cast<float>(parts);
  if (i < (parts + 1) / 2) return std::fma(step, static_cast<float>(i), 0.1f);
  return std::fma(-step, static_cast<float>(parts - i), 1.0f);
}

}  // namespace

std::array<float, kNf4Values> const& nf4_values() {
  static constexpr std::array<float, kNf4Values> values = {-1.0f,
                                                           -0.6961928009986877f,
                                                           -0.5250730514526367f,
                                                           -0.39491748809814453f,
                                                           -0.28444138169288635f,
                                                           -0.18477343022823334f,
                                                           -0.09105003625154495f,
                                                           0.0f,
                                                           0.07958029955625534f,
                                                           0.16093020141124725f,
                                                           0.24611230194568634f,
                                                           0.33791524171829224f,
                                                           0.44070982933044434f,
                                                           0.5626170039176941f,
                                                           0.7229568362236023f,
                                                           1.0f};
  return values;
}

std::array<float, kScaleValues> const& nf4_scale_values() {
  static auto const values = [] {
    std::array<float, kScaleValues> all;
    std::size_t n = 0;
    all[n++] = 0;
    all[n++] = 1;
    constexpr float decades[] = {1e-6f, 1e-5f, 1e-4f, 1e-3f, 1e-2f, 1e-1f, 1.0f};
    int parts = 1;
    for (float const decade : decades) {
      for (int i = 0; i < parts; ++i) {
        float const middle = (boundary(i, parts) + boundary(i + 1, parts)) / 2;
        all[n++] = decade * middle;
        all[n++] = -(decade * middle);
      }
      parts *= 2;
    }
    std::ranges::sort(all);
    return all;
  }();
  return values;
}

Quantizer::Quantizer(Quantized quantized, Put put)
    : m_quantized(std::move(quantized)),
      m_put(std::move(put)),
      m_rows(m_quantized.rows()),
      m_columns(m_quantized.columns()),
      m_at(quantized_bytes(m_quantized.form, m_rows, m_columns)) {}

std::int64_t Quantizer::unit() const {
  return m_quantized.form == Quantization::int8 ? m_columns : kNf4Block;
}

void Quantizer::add(std::span<float const> elements) {
  m_given += std::ssize(elements);
  if (!m_quantized.is_turned) {
    take(elements);
  } else {
    m_turned.insert(m_turned.end(), elements.begin(), elements.end());
    if (!is_complete()) return;
    std::vector<float> row(static_cast<std::size_t>(m_columns));
    for (std::int64_t i = 0; i < m_rows; ++i) {
      for (std::int64_t j = 0; j < m_columns; ++j)
        row[static_cast<std::size_t>(j)] = m_turned[static_cast<std::size_t>(j * m_rows + i)];
      take(row);
    }
    m_turned = {};
  }
  if (is_complete()) end();
}

// Encodes the units that are whole, and keeps the rest.
void Quantizer::take(std::span<float const> elements) {
  auto const size = static_cast<std::size_t>(unit());
  if (!m_rest.empty()) {
    auto const wanted = std::min(elements.size(), size - m_rest.size());
    m_rest.insert(m_rest.end(), elements.begin(),
                  elements.begin() + static_cast<std::ptrdiff_t>(wanted));
    elements = elements.subspan(wanted);
    if (m_rest.size() < size) return;
    encode(m_rest);
    m_rest.clear();
  }
  auto const whole = elements.size() / size * size;
  encode(elements.first(whole));
  auto const rest = elements.subspan(whole);
  m_rest.assign(rest.begin(), rest.end());
}

void Quantizer::encode(std::span<float const> elements) {
  if (elements.empty()) return;
  auto const place = m_quantized.form == Quantization::int8 ? m_encoded : m_encoded / 2;
  m_codes.clear();
  for (auto left = elements; !left.empty();) {
    auto const size = std::min(left.size(), static_cast<std::size_t>(unit()));
    if (m_quantized.form == Quantization::int8)
      encode_row(left.first(size));
    else
      encode_block(left.first(size));
    left = left.subspan(size);
  }
  m_put(place, m_codes);
  m_encoded += std::ssize(elements);
}

void Quantizer::encode_row(std::span<float const> row) {
  auto const top = top_of(row);
  auto const factor = top > 0 ? 1 / top * 127 : 0.0f;  // rounded twice, as torch does
  m_tops.push_back(top);
  for (float const element : row)
    m_codes.push_back(static_cast<std::byte>(
        static_cast<std::int8_t>(std::clamp(std::nearbyint(element * factor), -127.0f, 127.0f))));
}

void Quantizer::encode_block(std::span<float const> block) {
  static auto const bounds = bounds_of(nf4_values());
  std::array<float, kNf4Block> shares{};
  auto const top = top_of(block);
  m_tops.push_back(top);
  scale_down(block, top, std::ssize(block) == kNf4Block, shares.data());
  std::array<std::uint8_t, kNf4Block> codes{};
  for (float const bound : bounds)
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] += shares[i] > bound;
  for (std::size_t i = 0; i < block.size(); i += 2)
    m_codes.push_back(static_cast<std::byte>(codes[i] << 4 | codes[i + 1]));
}

void Quantizer::end() {
  encode(m_rest);
  m_rest.clear();
  if (m_quantized.form == Quantization::int8)
    put_floats(m_at.scales, m_tops);
  else
    end_nf4();
}

// Quantizes what the scales are apart from their mean.
void Quantizer::end_nf4() {
  static auto const bounds = bounds_of(nf4_scale_values());
  double sum = 0;
  for (float const top : m_tops) sum += top;
  auto const mean = static_cast<float>(sum / static_cast<double>(m_tops.size()));
  for (float& top : m_tops) top -= mean;
  std::vector<std::byte> codes;
  std::vector<float> group_scales, shares(kNf4Group);
  for (std::span<float const> left = m_tops; !left.empty();) {
    auto const group = left.first(std::min<std::size_t>(left.size(), kNf4Group));
    auto const top = top_of(group);
    group_scales.push_back(top);
    scale_down(group, top, std::ssize(group) == kNf4Group, shares.data());
    for (std::size_t i = 0; i < group.size(); ++i) {
      auto const code = std::ranges::lower_bound(bounds, shares[i]) - bounds.begin();
      codes.push_back(static_cast<std::byte>(code));
    }
    left = left.subspan(group.size());
  }
  m_put(m_at.scales, codes);
  put_floats(m_at.group_scales, group_scales);
  put_floats(m_at.mean, {&mean, 1});
  put_floats(m_at.scale_values, nf4_scale_values());
  put_floats(m_at.values, nf4_values());
}

void Quantizer::put_floats(std::int64_t at, std::span<float const> floats) {
  m_put(at, std::as_bytes(floats));
}

std::function<float(std::int64_t)> elements_of(Quantized const& quantized,
                                               std::span<std::byte const> bytes) {
  auto const* const first = reinterpret_cast<std::uint8_t const*>(bytes.data());
  auto const wide = quantized.shape[1], columns = quantized.columns();
  auto const element = [=, is_turned = quantized.is_turned](auto const& all) {
    return [=](std::int64_t i) {
      auto const at = is_turned ? i % wide * columns + i / wide : i;
      return all.value(at, all.scale(at / all.unit()));
    };
  };
  if (quantized.form == Quantization::int8)
    return element(Int8Elements(first, quantized.rows(), quantized.columns()));
  return element(Nf4Elements(first, quantized.rows(), quantized.columns()));
}

}  // namespace spillway
