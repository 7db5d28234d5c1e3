// Converts single elements of any type between raw bytes and doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bf16.hpp"
#include "base/dtype.hpp"

namespace spillway::test {

template <class T>
T load(std::byte const* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline double read(std::byte const* at, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return load<float>(at);
    case DType::bf16:
      return to_float(load<bf16>(at));
    case DType::i16:
      return load<std::int16_t>(at);
    case DType::i32:
      return load<std::int32_t>(at);
    case DType::i64:
      return static_cast<double>(load<std::int64_t>(at));
    case DType::f64:
      return load<double>(at);
    case DType::u8:
      return load<std::uint8_t>(at);
  }
  return 0;
}

template <class T>
void store_bytes(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

inline void write(std::byte* at, DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
      return store_bytes(at, static_cast<float>(value));
    case DType::bf16:
      return store_bytes(at, to_bf16(static_cast<float>(value)));
    case DType::i16:
      return store_bytes(at, static_cast<std::int16_t>(value));
    case DType::i32:
      return store_bytes(at, static_cast<std::int32_t>(value));
    case DType::i64:
      return store_bytes(at, static_cast<std::int64_t>(value));
    case DType::f64:
      return store_bytes(at, value);
    case DType::u8:
      return store_bytes(at, static_cast<std::uint8_t>(value));
  }
}

}  // namespace spillway::test
