// A Place says where a value was given, for error messages about the value.
#pragma once

#include <string>

namespace spillway {

struct Place {
  std::string where;  // such as "input/gpt.yaml:14" or "command line"; empty if nobody set it
  std::string key;    // such as "model.heads"; may be empty

  // Returns "input/gpt.yaml:14: model.heads", or only `where` or `key` if the other one is empty.
  std::string text() const;
};

// Throws Error(bad_input) with a message such as "input/gpt.yaml:14: model.heads: <problem>".
[[noreturn]] void refuse(Place const& place, std::string const& problem);

}  // namespace spillway
