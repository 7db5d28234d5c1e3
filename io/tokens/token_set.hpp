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
// file's key for the patterns, and a pattern that matches nothing. Throws also what the constructor
// of TokenFile throws.
std::vector<TokenFile> open_matching(std::string const& key, std::span<std::string const> patterns);

class TokenSet {
 public:
  // Opens all files that the patterns match. Throws what open_matching throws, and Error(bad_input)
  // that names `key` if there are no patterns or if two files have different vocabularies, by their
  // size or by the tokenizer's checksum.
  TokenSet(std::string const& key, std::span<std::string const> patterns);
  // Joins the files in this order. Throws Error(bad_input) that names `key` if there are no files
  // or if two of them have different vocabularies.
  static TokenSet of_files(std::string const& key, std::vector<TokenFile> files);

  std::vector<TokenFile> const& files() const { return m_files; }
  // Gives the files back.
  std::vector<TokenFile> take_files() && { return std::move(m_files); }
  std::int64_t count() const { return m_starts.back(); }
  std::int64_t vocab() const { return m_files.front().vocab(); }
  // Tokens are numbered through all files. file_of returns the index of the file that holds token
  // number `token`, which must not be negative. start_of returns the number of a file's first
  // token.
  std::size_t file_of(std::int64_t token) const;
  std::int64_t start_of(std::size_t file) const { return m_starts[file]; }

  // Reads tokens [first, first + to.size()), numbered through all files. Throws what
  // TokenFile::read throws. Any thread may call `read`.
  void read(std::int64_t first, std::span<std::int32_t> to) const;
  // Returns whether any file says which of its tokens are learned.
  bool has_mask() const;
  // Reads of these tokens whether they are learned, 1 or 0; all are in a file that does not say it.
  // Throws what TokenFile::read_mask throws. Any thread may call it.
  void read_mask(std::int64_t first, std::span<std::uint8_t> to) const;
  // Appends to `to`, in ascending order, the positions in [first, end) at which a document begins,
  // counted through all files. A file that records documents begins with one.
  void append_document_starts(std::int64_t first, std::int64_t end,
                              std::vector<std::int64_t>& to) const;

 private:
  TokenSet(std::vector<TokenFile> files, std::string const& key);
  template <class Element, class Read>
  void read_files(std::int64_t first, std::span<Element> to, Read const& read_file) const;

  std::vector<TokenFile> m_files;
  std::vector<std::int64_t> m_starts;  // the position of each file's first token, then the count
};

}  // namespace spillway
