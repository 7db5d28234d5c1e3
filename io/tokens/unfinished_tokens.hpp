// UnfinishedTokens are what an interrupted `tokenize` has left: a directory with tokens, and a text
// that says how far they are those of the inputs. Only for this folder's sources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/file/file.hpp"

namespace spillway {

// Counts what of the inputs has become tokens. Files of the directory may hold more than these.
struct UnfinishedCounts {
  std::int64_t jobs = 0, file_bytes = 0;  // of TextJobs
  std::int64_t tokens = 0, starts = 0;
  std::int64_t begin = 0;    // the first token of the document under way
  std::int64_t learned = 0;  // tokens, where there is a mask
  bool has_mask = false;
  std::int64_t empty_files = 0, empty_records = 0;
};

class UnfinishedTokens {
 public:
  // `identity` says which inputs, tokenizer and options decide the tokens. What another one has
  // left is removed. Throws Error(bad_input) if another process is at work in the directory, and
  // Error(storage) if it cannot be used.
  UnfinishedTokens(std::filesystem::path directory, std::string identity);

  std::filesystem::path file(char const* name) const { return m_directory / name; }
  // Returns how far the tokens are those of the inputs; all is 0 at the beginning.
  UnfinishedCounts const& counts() const { return m_counts; }
  // Says that the files have so much, and are on storage. Throws Error(storage).
  void keep(UnfinishedCounts const& counts);
  // Removes the directory, once its tokens are elsewhere.
  void remove();

 private:
  void read_counts();

  std::filesystem::path m_directory;
  std::string m_identity;
  FileDescriptor m_lock;
  UnfinishedCounts m_counts;
};

}  // namespace spillway
