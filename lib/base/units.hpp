// Text <-> bytes and seconds, as people write them in input files and read them in reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

inline constexpr double kDayS = 24 * 3600;

// "8GiB", "512 MiB", "1.5GB" or "4096": binary (KiB = 1024) and decimal (KB or kB = 1000) units up
// to P. A fraction is rounded to the nearest byte. Empty when the text is no size, is negative, has
// an ambiguous unit ("8G") or exceeds 63 bits.
std::optional<std::int64_t> parse_bytes(std::string_view text);

// Exact, and read back by parse_bytes to the same number: "8GiB", "1536MiB", "1000000007".
std::string format_bytes(std::int64_t bytes);

// For reading only: so many significant digits, "0.25" or "12", but every one before the point,
// such as "1234"; from a million on "1.23e+06".
std::string human_number(double value, int digits);

// For reading only: three significant digits, "1.46 GiB", "20 B", "-1.5 MiB".
std::string human_bytes(std::int64_t bytes);

// A number from 0 to 1, such as "0.5"; empty when the text is none.
std::optional<double> parse_fraction(std::string_view text);

// "3h50m", "90s", "2d", "1.5h": units d, h, m, s, each at most once and in this order; seconds as
// the result. Empty when the text is no duration; a number needs a unit.
std::optional<double> parse_duration_s(std::string_view text);

// Exact, and read back by parse_duration_s to the same number: "3h50m", "2d", "0.25s".
std::string format_duration(double seconds);

// For reading only: "12.3 us", "4.56 ms", "45.2 s", "3h50m", "2d4h", "1.2e+09 years", "for ever".
std::string human_duration(double seconds);

}  // namespace spillway
