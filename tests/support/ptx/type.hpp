// Lists the types and state spaces of PTX with their names.
#pragma once

#include <cstdint>
#include <string_view>

namespace spillway::test::ptx {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64
};

enum class Kind : std::uint8_t { none, predicate, bits, is_unsigned, is_signed, floating };

struct TypeFacts {
  Type type;
  std::string_view name;
  unsigned bytes;
  Kind kind;
};
inline constexpr TypeFacts kTypes[] = {
    {Type::none, "", 0, Kind::none},          {Type::pred, "pred", 1, Kind::predicate},
    {Type::b8, "b8", 1, Kind::bits},          {Type::b16, "b16", 2, Kind::bits},
    {Type::b32, "b32", 4, Kind::bits},        {Type::b64, "b64", 8, Kind::bits},
    {Type::u8, "u8", 1, Kind::is_unsigned},   {Type::u16, "u16", 2, Kind::is_unsigned},
    {Type::u32, "u32", 4, Kind::is_unsigned}, {Type::u64, "u64", 8, Kind::is_unsigned},
    {Type::s8, "s8", 1, Kind::is_signed},     {Type::s16, "s16", 2, Kind::is_signed},
    {Type::s32, "s32", 4, Kind::is_signed},   {Type::s64, "s64", 8, Kind::is_signed},
    {Type::f16, "f16", 2, Kind::floating},    {Type::f16x2, "f16x2", 4, Kind::floating},
    {Type::bf16, "bf16", 2, Kind::floating},  {Type::bf16x2, "bf16x2", 4, Kind::floating},
    {Type::tf32, "tf32", 4, Kind::floating},  {Type::f32, "f32", 4, Kind::floating},
    {Type::f64, "f64", 8, Kind::floating}};

constexpr TypeFacts const& facts(Type type) {
  return kTypes[static_cast<std::size_t>(type)];
}
constexpr Type type_named(std::string_view name) {
  for (auto const& each : kTypes)
    if (each.name == name) return each.type;
  return Type::none;
}

enum class Space : std::uint8_t { generic, global, shared, local, param, constant };

struct SpaceName {
  Space space;
  std::string_view name;
};
inline constexpr SpaceName kSpaces[] = {{Space::generic, ""},      {Space::global, "global"},
                                        {Space::shared, "shared"}, {Space::local, "local"},
                                        {Space::param, "param"},   {Space::constant, "const"}};

}  // namespace spillway::test::ptx
