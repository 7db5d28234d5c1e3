// Writes to standard output and error without stdio. A message on stderr that cannot be written is
// lost, but a result on stdout that cannot be written is an error. Control characters are shown as
// text (base/printable.hpp), so that no file or name can control a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace spillway {

// main() calls prepare_standard_streams first. It opens those of the descriptors 0 to 2 that are
// closed, so that no file that is opened later gets one of these numbers; reads and writes of the
// descriptors that it opened fail. It also makes a write to a pipe without a reader an error
// instead of a signal.
void prepare_standard_streams() noexcept;

// Writes to stderr and adds a newline if there is none. Text that cannot be written is lost. A live
// line that is shown is erased first.
void say(std::string_view text) noexcept;

// Shows a live line on the terminal on stderr, in place of the one before. It stays until something
// is said.
void say_live(std::string_view line) noexcept;

// Returns how long a live line may be. A longer one would wrap, and redrawing it would leave its
// first row on the screen. Some terminals wrap as soon as the last column is written.
std::size_t room_for_live_line() noexcept;

// Writes the result of a command to stdout. Throws Error(storage) if it cannot be written.
void print_result(std::string_view text);

// Writes bytes to stdout, with control characters as \xNN if stdout is a terminal, else unchanged.
// `bytes` must not end within a UTF-8 character. Throws Error(storage) if they cannot be written.
void print_bytes(std::string_view bytes);

}  // namespace spillway
