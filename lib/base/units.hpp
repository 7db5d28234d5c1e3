// Converts between text and bytes or seconds, as people write them in input files and reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

inline constexpr double kDayS = 24 * 3600;

// Reads text such as "8GiB", "512 MiB", "1.5GB" or "4096". Units are binary (KiB = 1024) or decimal
// (KB or kB = 1000), up to PiB and PB. A fraction is rounded to the nearest byte. Returns nothing
// if the text is no size, is negative, has an ambiguous unit ("8G") or exceeds 63 bits.
std::optional<std::int64_t> parse_bytes(std::string_view text);

// Returns exact text, which parse_bytes reads back, such as "8GiB", "1536MiB" or "1000000007".
std::string format_bytes(std::int64_t bytes);

// Returns text of at least so many bytes, and of at most 0.1 % and 1 MiB more, which parse_bytes
// reads, such as "57MiB" or "132.3GiB".
std::string format_bytes_up(std::int64_t bytes);

// Returns rounded text with `digits` significant digits, such as "0.25" or "12". Below a million
// all digits before the point are written, as in "1234"; a larger number looks like "1.23e+06".
std::string human_number(double value, int digits);

// Returns text rounded to three significant digits at most, such as "1.46 GiB" or "-1.5 MiB".
std::string human_bytes(std::int64_t bytes);

// Reads a number from 0 to 1, such as "0.5". Returns nothing for any other text.
std::optional<double> parse_fraction(std::string_view text);

// Reads text such as "3h50m", "90s", "2d" or "1.5h" and returns seconds. Every number needs one of
// the units d, h, m, s, and each unit comes at most once and in this order. Returns nothing for any
// other text.
std::optional<double> parse_duration_s(std::string_view text);

// Returns exact text, which parse_duration_s reads back, such as "3h50m", "2d" or "0.25s".
std::string format_duration(double seconds);

// Returns rounded text, such as "12.3 us", "4.56 ms", "45.2 s", "3h50m", "2d4h" or "1.2e+09 years",
// and "for ever" if `seconds` is not finite.
std::string human_duration(double seconds);

}  // namespace spillway
