// Writes messages to stderr, one line each, such as "spillway: warning: ...". A line that cannot be
// written is lost.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace spillway {

enum class LogLevel : std::uint8_t { info, warning, error };

// Messages of the level `info` are written only if `speaks` is true, as on rank 0. Warnings and
// errors are always written.
void set_up_log(bool speaks);
void write_log(LogLevel level, std::string_view line);

// While a LinesOnce lives, a line that was written in its life is not written again. It is for
// commands that do the same many times. It must not live beside another one, nor while other
// threads write lines.
class LinesOnce {
 public:
  LinesOnce();
  ~LinesOnce();
  LinesOnce(LinesOnce const&) = delete;
  LinesOnce& operator=(LinesOnce const&) = delete;
};

template <class... T>
void log_info(fmt::format_string<T...> text, T&&... values) {
  write_log(LogLevel::info, fmt::format(text, std::forward<T>(values)...));
}
template <class... T>
void log_warning(fmt::format_string<T...> text, T&&... values) {
  write_log(LogLevel::warning, fmt::format(text, std::forward<T>(values)...));
}
template <class... T>
void log_error(fmt::format_string<T...> text, T&&... values) {
  write_log(LogLevel::error, fmt::format(text, std::forward<T>(values)...));
}

}  // namespace spillway
