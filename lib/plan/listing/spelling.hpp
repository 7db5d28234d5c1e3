// How a Program in a file spells the values of an enumeration: by their `name`, or by words here.
#pragma once

#include <array>
#include <string_view>

#include "plan/data/program.hpp"

namespace spillway {

template <class E>
inline constexpr std::array<std::string_view, 0> kWords{};
template <>
inline constexpr std::array<std::string_view, 3> kWords<Purpose>{"train", "eval", "generate"};
template <>
inline constexpr std::array<std::string_view, 9> kWords<Role>{"parameter", "remainder",  "moment",
                                                              "gradient",  "activation", "edge",
                                                              "workspace", "batch",      "scalar"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<Phase>{"forward", "backward", "norm",
                                                               "update"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<Init::Kind>{"zeros", "ones", "normal"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<GeluForm>{"tanh", "erf"};

// How many values there are.
template <class E>
inline constexpr std::size_t kValues = kWords<E>.size();
template <>
inline constexpr std::size_t kValues<Lane> = kLanes;
template <>
inline constexpr std::size_t kValues<Tier> = kTiers;
template <>
inline constexpr std::size_t kValues<BatchField> = kBatchFields.size();
template <>
inline constexpr std::size_t kValues<DType> = static_cast<std::size_t>(DType::f64) + 1;
template <>
inline constexpr std::size_t kValues<ItemKind> = static_cast<std::size_t>(ItemKind::report) + 1;
template <>
inline constexpr std::size_t kValues<OpKind> = 0
#define SPILLWAY_OP(name, rule) +1
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
    ;

template <class E>
std::string_view spelled(E value) {
  if constexpr (requires { name(value); }) {
    return name(value);
  } else {
    return kWords<E>.at(static_cast<std::size_t>(value));
  }
}
inline std::string_view spelled(BatchField field) {
  return row_of(field).name;
}

}  // namespace spillway
