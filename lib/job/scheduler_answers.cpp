#include "job/scheduler_answers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <string>

#include "base/number.hpp"

namespace spillway {
namespace {

std::string_view trimmed(std::string_view text) {
  auto const* const blanks = " \t\r\n";
  auto const first = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

std::optional<double> parse_count(std::string_view text) {
  auto const count = to_number<std::int64_t>(text);
  if (!count || *count < 0) return std::nullopt;
  return static_cast<double>(*count);
}

// Reads local time such as "Mon Nov 23 08:33:10 2026".
std::optional<double> parse_date(std::string_view text) {
  std::tm date{};
  std::string const copy(text);
  auto const* end = ::strptime(copy.c_str(), "%a %b %d %H:%M:%S %Y", &date);
  if (end == nullptr || *end != '\0') return std::nullopt;
  date.tm_isdst = -1;
  return static_cast<double>(std::mktime(&date));
}

// Returns the value of a line "    name = value", or "" if there is no such line.
std::string_view attribute(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    auto const line = trimmed(text.substr(0, end));
    if (line.starts_with(name) && line.substr(name.size()).starts_with(" = "))
      return line.substr(name.size() + 3);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

}  // namespace

std::optional<double> parse_clock(std::string_view text) {
  std::array<double, 3> constexpr to_next = {24, 60, 60};
  auto const colons = static_cast<std::size_t>(std::ranges::count(text, ':'));
  if (colons > to_next.size()) return std::nullopt;
  double seconds = 0;
  for (auto unit = to_next.size() - colons;; ++unit) {
    auto const colon = std::min(text.find(':'), text.size());
    auto const part = parse_count(text.substr(0, colon));
    if (!part) return std::nullopt;
    seconds += *part;
    if (colon == text.size()) return seconds;
    seconds *= to_next[unit];
    text.remove_prefix(colon + 1);
  }
}

std::optional<double> parse_slurm_end(std::string_view text) {
  return parse_count(trimmed(text));
}

std::optional<double> parse_pbs_end(std::string_view text, double now_s) {
  auto const limit_s = parse_clock(attribute(text, "Resource_List.walltime"));
  if (!limit_s) return std::nullopt;
  if (auto const begin = parse_date(attribute(text, "stime"))) return *begin + *limit_s;
  if (auto const left_s = parse_clock(attribute(text, "Walltime.Remaining")))
    return now_s + *left_s;
  auto const used_s = parse_clock(attribute(text, "resources_used.walltime"));
  return now_s + *limit_s - used_s.value_or(0);
}

}  // namespace spillway
