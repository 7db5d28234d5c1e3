// Standard output and error, past stdio: what is said may fail and ends nothing; what was asked for
// arrives or is an error. Both show control characters (base/printable.hpp), so that no file or
// name can steer a terminal.
#pragma once

#include <string_view>

namespace spillway {

// First thing in main. Descriptors 0 to 2 that are closed are occupied by one that can neither be
// read nor written, or the next file would get their number; a pipe without a reader is an error of
// `write` and not a signal.
void prepare_standard_streams() noexcept;

// To stderr, with a newline at the end where it has none. What cannot be written is lost.
void say(std::string_view text) noexcept;

// The same for the last line of a terminal, which is drawn anew and stays open.
void say_live(std::string_view line) noexcept;

// To stdout: what a command was asked for. Throws Error(storage) where it cannot be written.
void print_result(std::string_view text);

// To stdout as they are, where it is no terminal. `bytes` hold whole characters.
void print_bytes(std::string_view bytes);

}  // namespace spillway
