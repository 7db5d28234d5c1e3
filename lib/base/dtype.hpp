// Defines the element types of tensors.
#pragma once

#include <cstdint>
#include <string_view>

namespace spillway {

enum class DType : std::uint8_t { f32, bf16, i16, i32, i64, f64, u8 };

constexpr std::int64_t size_bytes(DType t) {
  switch (t) {
    case DType::i64:
    case DType::f64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::bf16:
    case DType::i16:
      return 2;
    case DType::u8:
      return 1;
  }
  return 0;
}

constexpr std::string_view name(DType t) {
  constexpr std::string_view names[] = {"f32", "bf16", "i16", "i32", "i64", "f64", "u8"};
  return names[static_cast<int>(t)];
}

}  // namespace spillway
