// A process among all that may see a file system, as text in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

struct Owner {
  std::string machine;  // tells boots and containers apart
  std::string host;     // for people
  std::int64_t pid = 0;
  std::string begin;  // of the process, on the machine's clock: numbers come again
};

Owner this_process();

std::string to_text(Owner const& owner);  // "machine: ...\nhost: ...\n", lines of its own
// Reads on after such lines; empty where it is none.
std::optional<Owner> parse_owner(std::string_view text);

// Whether it runs; empty: on another machine, where nobody can ask.
std::optional<bool> runs(Owner const& owner);

}  // namespace spillway
