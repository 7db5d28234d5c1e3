// An Owner identifies a process among all machines that share a file system, as text in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

struct Owner {
  std::string machine;  // differs between boots and containers
  std::string host;     // for messages only
  std::int64_t pid = 0;
  std::string begin;  // when the process began, since process numbers are reused
};

Owner this_process();

std::string to_text(Owner const& owner);  // returns lines such as "host: ...\n"
// Parses what to_text returned, even if more lines follow. Returns nothing for any other text.
std::optional<Owner> parse_owner(std::string_view text);

// Returns whether the process runs, or nothing if it belongs to another machine, which cannot be
// asked.
std::optional<bool> runs(Owner const& owner);

}  // namespace spillway
