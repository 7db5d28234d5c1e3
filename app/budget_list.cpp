#include "app/budget_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/number_list.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace spillway {
namespace {

constexpr std::string_view kExample = "device=8,12,16GiB";

template <class... T>
[[noreturn]] void refuse(std::string const& list, fmt::format_string<T...> problem, T&&... values) {
  throw Error(Status::bad_input, fmt::format("--budgets {}: {}", list,
                                             fmt::format(problem, std::forward<T>(values)...)));
}

std::string_view trimmed(std::string_view text) {
  auto const begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

bool is_word(std::string_view text) {
  return text == "none" || text == "auto";
}

// Returns the unit of a size, such as "GiB" of "1.5 GiB", or "" if it has none.
std::string_view unit_of(std::string_view size) {
  return trimmed(size.substr(std::min(size.find_first_not_of("0123456789. "), size.size())));
}

// Returns the last unit of the list, or "" if no value has one.
std::string_view last_unit(std::vector<std::string_view> const& parts) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    if (!is_word(*part)) return unit_of(*part);
  return "";
}

BudgetList::Value value_of(std::string const& list, std::string_view part, std::string_view unit) {
  if (part.empty()) refuse(list, "a value is missing; give a list such as {}", kExample);
  if (part == "auto") return {std::string(part), std::nullopt};
  if (part == "none") return {std::string(part), 0};
  bool const has_unit = !unit_of(part).empty();
  if (!has_unit && unit.empty())
    refuse(list, "a unit is missing after {}; give one such as GiB at the end of the list", part);
  auto text = fmt::format("{}{}", part, has_unit ? "" : unit);
  auto const bytes = parse_bytes(text);
  if (!bytes) refuse(list, "'{}' is no size; give sizes such as 8GiB, or none or auto", text);
  return {std::move(text), bytes};
}

Tier tier_of(std::string const& list, std::string_view word) {
  if (auto const tier = parse_tier(word)) return *tier;
  refuse(list, "'{}' is no memory; give device, host or nvme, as in {}", word, kExample);
}

}  // namespace

BudgetList budget_list(std::string const& text) {
  auto const equals = text.find('=');
  if (equals == text.npos) refuse(text, "give a memory and its sizes, as in {}", kExample);
  BudgetList list{tier_of(text, trimmed(std::string_view(text).substr(0, equals))), {}};
  auto parts = list_parts(std::string_view(text).substr(equals + 1));
  for (auto& part : parts) part = trimmed(part);
  auto const unit = last_unit(parts);
  for (auto const part : parts) {
    auto value = value_of(text, part, unit);
    if (std::ranges::count(list.values, value.bytes, &BudgetList::Value::bytes) > 0)
      refuse(text, "{} is there twice", value.text);
    list.values.push_back(std::move(value));
  }
  return list;
}

}  // namespace spillway
