#include "graph/arithmetic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <concepts>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/printable.hpp"

namespace spillway {

template <class E>
concept ArithmeticChoice = std::same_as<E, Precision> || std::same_as<E, Reduction>;

void to_json(nlohmann::json& json, ArithmeticChoice auto value) {
  json = word(value);
}

template <ArithmeticChoice E>
void from_json(nlohmann::json const& json, E& value) {
  auto const parsed = parse_word<E>(json.get<std::string>());
  if (!parsed)
    throw Error(Status::damaged, fmt::format("stored arithmetic cannot be read: {} is none of {}",
                                             printable(json.dump()), fmt::join(kWords<E>, ", ")));
  value = *parsed;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Arithmetic, build, isa, precision, gradients, moments, threads,
                                   ranks, micro, sequence, attention_tile, loss_chunk, reduction)

namespace {

std::string text(nlohmann::json const& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::string to_json(Arithmetic const& arithmetic) {
  return nlohmann::json(arithmetic).dump();
}

Arithmetic arithmetic_from_json(std::string const& text) {
  try {
    return nlohmann::json::parse(text).get<Arithmetic>();
  } catch (nlohmann::json::exception const& e) {
    throw Error(Status::damaged, fmt::format("stored arithmetic cannot be read: {}", e.what()));
  }
}

std::string describe_difference(Arithmetic const& before, Arithmetic const& now) {
  nlohmann::json const old_values = before, new_values = now;
  std::string result;
  for (auto const& [key, value] : new_values.items()) {
    if (old_values[key] == value) continue;
    if (!result.empty()) result += ", ";
    result += fmt::format("{}: {} -> {}", key, text(old_values[key]), text(value));
  }
  return result;
}

}  // namespace spillway
