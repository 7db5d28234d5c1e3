// Several token files as one range of tokens, one file after the other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "io/tokens/token_file.hpp"

namespace spillway {

// The files that a pattern names, sorted: a path, or a glob; what is there as it is spelled is a
// path. One that does not exist matches nothing.
std::vector<std::string> matching(std::string const& pattern);

// Whether any of the patterns names a file that is there.
bool names_files(std::span<std::string const> patterns);

// Opens what each pattern matches. Throws Error(bad_input) naming `key` (of the input file) and the
// pattern that matches nothing; and what TokenFile throws.
std::vector<TokenFile> open_matching(std::string const& key, std::span<std::string const> patterns);

class TokenSet {
 public:
  // What open_matching gives. Throws Error(bad_input) that names `key` and two files of different
  // vocabularies.
  TokenSet(std::string const& key, std::span<std::string const> patterns);
  // Joins these files in this order. Throws as the constructor does.
  static TokenSet of_files(std::string const& key, std::vector<TokenFile> files);

  std::vector<TokenFile> const& files() const { return m_files; }
  std::int64_t count() const { return m_starts.back(); }
  std::int64_t vocab() const { return m_files.front().vocab(); }
  // The file that holds `token`, and the first token of a file.
  std::size_t file_of(std::int64_t token) const;
  std::int64_t start_of(std::size_t file) const { return m_starts[file]; }

  // Tokens [first, first + size) of the whole; as TokenFile::read.
  void read(std::int64_t first, std::span<std::int32_t> to) const;
  // Appends the tokens of [first, end) at which a document begins, ascending; as TokenFile. Every
  // file that records documents begins with one.
  void append_document_starts(std::int64_t first, std::int64_t end,
                              std::vector<std::int64_t>& to) const;

 private:
  TokenSet(std::vector<TokenFile> files, std::string const& key);

  std::vector<TokenFile> m_files;
  std::vector<std::int64_t> m_starts;  // of each file, and the end
};

}  // namespace spillway
