#include "io/tensors/convert.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "base/bf16.hpp"
#include "base/f16.hpp"

namespace spillway {
namespace {

template <class T>
void widen(std::span<std::byte const> from, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    T element;
    std::memcpy(&element, from.data() + i * sizeof(T), sizeof(T));
    to[i] = to_float(element);
  }
}

template <class T>
void narrow(std::span<float const> from, std::span<std::byte> to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    T const element = store<T>(from[i]);
    std::memcpy(to.data() + i * sizeof(T), &element, sizeof(T));
  }
}

template <class T>
ValueCounts count(std::span<float const> values) {
  ValueCounts counts;
  for (auto const value : values) {
    float const rounded = to_float(store<T>(value));
    bool const finite = std::isfinite(value);
    counts.not_finite += !finite;
    counts.become_infinite += finite && !std::isfinite(rounded);
    counts.become_zero += value != 0 && rounded == 0;
  }
  return counts;
}

// Throws std::logic_error unless `bytes` hold exactly as many elements as there are floats, because
// a conversion would otherwise go beyond an end.
void require_convertible(ElementType type, std::size_t bytes, std::size_t floats) {
  if (is_float(type) && bytes == floats * static_cast<std::size_t>(size_bytes(type))) return;
  throw std::logic_error(
      fmt::format("{} bytes of {} are not {} floats", bytes, name(type), floats));
}

}  // namespace

bool is_float(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::f32;
}

void to_floats(ElementType type, std::span<std::byte const> from, std::span<float> to) {
  require_convertible(type, from.size(), to.size());
  if (type == ElementType::f16) return widen<f16>(from, to);
  if (type == ElementType::bf16) return widen<bf16>(from, to);
  std::memcpy(to.data(), from.data(), from.size());
}

void from_floats(ElementType type, std::span<float const> from, std::span<std::byte> to) {
  require_convertible(type, to.size(), from.size());
  if (type == ElementType::f16) return narrow<f16>(from, to);
  if (type == ElementType::bf16) return narrow<bf16>(from, to);
  std::memcpy(to.data(), from.data(), to.size());
}

ValueCounts& ValueCounts::operator+=(ValueCounts const& other) {
  not_finite += other.not_finite;
  become_infinite += other.become_infinite;
  become_zero += other.become_zero;
  return *this;
}

ValueCounts count_values(std::span<float const> values, ElementType rounded_to) {
  if (!is_float(rounded_to))
    throw std::logic_error(fmt::format("no float becomes {}", name(rounded_to)));
  if (rounded_to == ElementType::f16) return count<f16>(values);
  if (rounded_to == ElementType::bf16) return count<bf16>(values);
  return count<float>(values);
}

}  // namespace spillway
