#include "io/tensors/element_type.hpp"

#include <algorithm>
#include <array>

namespace spillway {
namespace {

struct Description {
  ElementType type;
  std::string_view name;
  std::int64_t bytes;
};

// The descriptions are in the order of the enumerators of ElementType.
constexpr std::array kDescriptions = {Description{ElementType::boolean, "BOOL", 1},
                                      Description{ElementType::u8, "U8", 1},
                                      Description{ElementType::i8, "I8", 1},
                                      Description{ElementType::f8_e4m3, "F8_E4M3", 1},
                                      Description{ElementType::f8_e5m2, "F8_E5M2", 1},
                                      Description{ElementType::f8_e8m0, "F8_E8M0", 1},
                                      Description{ElementType::u16, "U16", 2},
                                      Description{ElementType::i16, "I16", 2},
                                      Description{ElementType::f16, "F16", 2},
                                      Description{ElementType::bf16, "BF16", 2},
                                      Description{ElementType::u32, "U32", 4},
                                      Description{ElementType::i32, "I32", 4},
                                      Description{ElementType::f32, "F32", 4},
                                      Description{ElementType::u64, "U64", 8},
                                      Description{ElementType::i64, "I64", 8},
                                      Description{ElementType::f64, "F64", 8},
                                      Description{ElementType::c64, "C64", 8}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kDescriptions.size(); ++i) {
    if (kDescriptions[i].type != static_cast<ElementType>(i)) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

std::int64_t size_bytes(ElementType type) {
  return kDescriptions[static_cast<std::size_t>(type)].bytes;
}

std::string_view name(ElementType type) {
  return kDescriptions[static_cast<std::size_t>(type)].name;
}

std::optional<ElementType> element_type(std::string_view name) {
  auto const found = std::ranges::find(kDescriptions, name, &Description::name);
  return found == kDescriptions.end() ? std::nullopt : std::optional(found->type);
}

}  // namespace spillway
