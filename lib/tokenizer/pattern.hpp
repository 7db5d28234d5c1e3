// A Pattern is a regular expression over Unicode, as tokenizers publish them (by PCRE2); only for
// this folder's sources.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_handle.hpp"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;

namespace spillway {

struct Match {
  std::size_t begin, end;
};

void free_pattern(pcre2_real_code_8* code) noexcept;
void free_match(pcre2_real_match_data_8* match) noexcept;

class Pattern {
 public:
  // Throws Error(bad_input) that begins with `where` if `expression` is none that PCRE2 knows.
  Pattern(std::string const& expression, std::string const& where);

  // Returns the first match at or behind byte `from` of `text`, which must be valid UTF-8. Any
  // thread may call `find`. Throws Error(bad_input) if the expression asks for too many tries.
  std::optional<Match> find(std::string_view text, std::size_t from) const;

 private:
  std::string m_where;
  UniqueHandle<pcre2_real_code_8*, free_pattern, nullptr> m_code;
};

}  // namespace spillway
