#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/math.hpp"
#include "base/number.hpp"

namespace spillway {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array byte_units = {Unit{"PiB", 1ll << 50},
                                   Unit{"TiB", 1ll << 40},
                                   Unit{"GiB", 1ll << 30},
                                   Unit{"MiB", 1ll << 20},
                                   Unit{"KiB", 1ll << 10},
                                   Unit{"B", 1},
                                   Unit{"PB", 1'000'000'000'000'000},
                                   Unit{"TB", 1'000'000'000'000},
                                   Unit{"GB", 1'000'000'000},
                                   Unit{"MB", 1'000'000},
                                   Unit{"KB", 1'000},
                                   Unit{"kB", 1'000},
                                   Unit{"", 1}};
// Sizes are read in all units of the list but written only in the first `binary_units` of them,
// which go from the largest to the smallest.
constexpr std::size_t binary_units = 6;

constexpr std::array time_units = {Unit{"d", 86'400}, Unit{"h", 3'600}, Unit{"m", 60},
                                   Unit{"s", 1}};

// Removes a number such as "12" or "1.5" from the front of `text`. Returns its text, or "" if there
// is no number.
std::string_view take_number(std::string_view& text) {
  constexpr std::string_view digits = "0123456789";
  auto end = std::min(text.find_first_not_of(digits), text.size());
  if (end > 0 && end + 1 < text.size() && text[end] == '.' &&
      digits.find(text[end + 1]) != digits.npos) {
    end = std::min(text.find_first_not_of(digits, end + 1), text.size());
  }
  auto const number = text.substr(0, end);
  text.remove_prefix(end);
  return number;
}

std::optional<double> to_real(std::string_view number) {
  double value = 0;
  auto const result = std::from_chars(number.data(), number.data() + number.size(), value);
  if (result.ec != std::errc{} || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::int64_t> scaled(std::string_view number, std::int64_t factor) {
  if (number.find('.') == number.npos) {
    std::int64_t value = 0, product = 0;
    auto const result = std::from_chars(number.data(), number.data() + number.size(), value);
    if (result.ec != std::errc{} || __builtin_mul_overflow(value, factor, &product)) return {};
    return product;
  }
  auto const value = to_real(number);
  if (!value || *value * static_cast<double>(factor) >= 0x1p63) return {};
  return std::llround(*value * static_cast<double>(factor));
}

// Returns whole seconds as text such as "2d4h". It leaves out units with the number 0, and writes
// only the `parts` largest of the other units.
std::string clock_text(std::int64_t seconds, int parts) {
  std::string text;
  for (auto const& unit : time_units) {
    auto const count = seconds / unit.factor;
    if (count == 0 || parts == 0) continue;
    fmt::format_to(std::back_inserter(text), "{}{}", count, unit.name);
    seconds -= count * unit.factor;
    --parts;
  }
  return text.empty() ? "0s" : text;
}

}  // namespace

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  auto const number = take_number(text);
  if (number.empty()) return {};
  if (text.starts_with(' ')) text.remove_prefix(1);
  for (auto const& unit : byte_units) {
    if (text == unit.name) return scaled(number, unit.factor);
  }
  return {};
}

std::string format_bytes(std::int64_t bytes) {
  for (auto const& unit : byte_units) {
    if (bytes != 0 && unit.factor > 1 && bytes % unit.factor == 0) {
      return fmt::format("{}{}", bytes / unit.factor, unit.name);
    }
    if (unit.factor == 1) break;
  }
  return fmt::format("{}", bytes);
}

std::string format_bytes_up(std::int64_t bytes) {
  constexpr std::int64_t mebibyte = 1 << 20;
  constexpr int digits = 4;
  auto const whole = round_up(bytes, mebibyte);
  for (auto const& unit : byte_units) {
    if (unit.factor == mebibyte) break;
    if (whole < unit.factor) continue;
    auto const number = static_cast<double>(whole) / static_cast<double>(unit.factor);
    auto const scale = std::pow(10, digits - 1 - std::floor(std::log10(number)));
    return fmt::format("{:g}{}", std::ceil(number * scale) / scale, unit.name);
  }
  return format_bytes(whole);
}

std::string human_number(double value, int digits) {
  constexpr double million = 1e6;
  auto const magnitude = std::abs(value);
  if (magnitude >= std::pow(10, digits) - 0.5 && magnitude < million - 0.5)
    return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}g}", value, digits);
}

std::string human_bytes(std::int64_t exact_bytes) {
  auto const bytes = static_cast<double>(exact_bytes);
  for (std::size_t i = 0; i + 1 < binary_units; ++i) {
    auto const factor = static_cast<double>(byte_units[i].factor);
    // From 999.5 of the smaller unit on, three digits would print 1000, so the larger unit is used.
    if (std::abs(bytes) >= factor / 1024 * 999.5) {
      return fmt::format("{} {}", human_number(bytes / factor, 3), byte_units[i].name);
    }
  }
  return fmt::format("{:.3g} B", bytes);
}

std::optional<double> parse_fraction(std::string_view text) {
  auto const value = to_number<double>(text);
  if (!value || !(*value >= 0 && *value <= 1)) return {};
  return value;
}

std::optional<double> parse_duration_s(std::string_view text) {
  if (text.empty()) return {};
  double seconds = 0;
  auto unit = time_units.begin();
  while (!text.empty()) {
    auto const value = to_real(take_number(text));
    while (unit != time_units.end() && !text.starts_with(unit->name)) ++unit;
    if (!value || unit == time_units.end()) return {};
    seconds += *value * static_cast<double>(unit->factor);
    text.remove_prefix(unit->name.size());
    ++unit;
  }
  if (!std::isfinite(seconds)) return {};
  return seconds;
}

std::string format_duration(double seconds) {
  if (seconds == std::floor(seconds) && seconds < 0x1p53) {
    return clock_text(static_cast<std::int64_t>(seconds), static_cast<int>(time_units.size()));
  }
  // std::to_chars writes the fewest digits, without an exponent, that read back to the same number.
  std::array<char, 400> digits;
  auto const end =
      std::to_chars(digits.begin(), digits.end(), seconds, std::chars_format::fixed).ptr;
  return std::string(digits.begin(), end) + "s";
}

std::string human_duration(double seconds) {
  constexpr double year_s = 365.25 * 86'400, many_years = 1000;
  auto const magnitude = std::abs(seconds);
  if (!std::isfinite(seconds)) return "for ever";
  if (magnitude >= many_years * year_s) return human_number(seconds / year_s, 3) + " years";
  if (magnitude >= 99.95) return clock_text(std::llround(seconds), 2);
  if (magnitude >= 0.9995 || magnitude == 0) return fmt::format("{:.3g} s", seconds);
  if (magnitude >= 0.9995e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

}  // namespace spillway
