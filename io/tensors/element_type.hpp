// Lists the types that elements of a tensor in a file may have. Only f16, bf16 and f32 can be read
// as floats.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace spillway {

enum class ElementType : std::uint8_t {
  boolean,
  u8,
  i8,
  f8_e4m3,
  f8_e5m2,
  f8_e8m0,
  u16,
  i16,
  f16,
  bf16,
  u32,
  i32,
  f32,
  u64,
  i64,
  f64,
  c64
};

std::int64_t size_bytes(ElementType type);
// `name` returns a type as safetensors spells it, such as "BF16". `element_type` returns the type
// that has such a spelling, or nothing if the spelling is unknown.
std::string_view name(ElementType type);
std::optional<ElementType> element_type(std::string_view name);

}  // namespace spillway
