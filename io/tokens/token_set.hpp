// A TokenSet shows several token files as one range of tokens, one file after the other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "io/tokens/token_file.hpp"

namespace spillway {

// Returns the files that a pattern names, sorted. A pattern is a path or a glob; if a file with the
// pattern's own spelling exists, the pattern is taken as a path. A path that does not exist matches
// nothing.
std::vector<std::string> matching(std::string const& pattern);

// Returns whether any of the patterns names a file that exists.
bool names_files(std::span<std::string const> patterns);

// Opens the files that each pattern matches. Throws Error(bad_input) that names `key`, the input
// file's key for the patterns, and a pattern that matches nothing. Throws also what TokenFile
// throws.
std::vector<TokenFile> open_matching(std::string const& key, std::span<std::string const> patterns);

class TokenSet {
 public:
  // Opens the files as open_matching does. Throws also Error(bad_input) that names `key` and two
  // files if their vocabularies differ.
  TokenSet(std::string const& key, std::span<std::string const> patterns);
  // Joins the files in this order. Throws Error(bad_input) that names `key` and two files if their
  // vocabularies differ.
  static TokenSet of_files(std::string const& key, std::vector<TokenFile> files);

  std::vector<TokenFile> const& files() const { return m_files; }
  std::int64_t count() const { return m_starts.back(); }
  std::int64_t vocab() const { return m_files.front().vocab(); }
  // `file_of` returns the file that holds `token`, which must not be negative, and `start_of` the
  // first token of a file.
  std::size_t file_of(std::int64_t token) const;
  std::int64_t start_of(std::size_t file) const { return m_starts[file]; }

  // Reads tokens [first, first + to.size()) of the whole range. Throws what TokenFile::read throws,
  // and any thread may call it.
  void read(std::int64_t first, std::span<std::int32_t> to) const;
  // Appends to `to`, in ascending order, those tokens of [first, end) at which a document begins.
  // The first token of every file that records documents is one of them.
  void append_document_starts(std::int64_t first, std::int64_t end,
                              std::vector<std::int64_t>& to) const;

 private:
  TokenSet(std::vector<TokenFile> files, std::string const& key);

  std::vector<TokenFile> m_files;
  std::vector<std::int64_t> m_starts;  // the first token of each file, then the count
};

}  // namespace spillway
