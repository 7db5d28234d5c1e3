// A DocumentTable knows at which tokens the documents of a token file begin, from the file's
// dataset /document_starts. It reads the dataset 16 KiB at a time and verifies whatever it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "io/file/file.hpp"
#include "io/tokens/token_layout.hpp"

namespace spillway {

class DocumentTable {
 public:
  // Reads the table once and keeps 16 bytes for every 2048 documents. Throws Error: damaged unless
  // the first document begins at token 0, the others follow in ascending order inside the file, and
  // the table has the checksum that the file's head names, if there is one; storage if the table
  // cannot be read.
  DocumentTable(std::filesystem::path path, FileDescriptor const& file, TokenLayout const& layout);

  // Appends to `to`, in ascending order, the positions in [first, end) at which a document begins.
  // `first` must not be negative. Does not allocate if `to` has room. Any thread may call
  // append_starts. Throws Error: damaged if the table is not what the constructor read, storage if
  // it cannot be read.
  void append_starts(FileDescriptor const& file, std::int64_t first, std::int64_t end,
                     std::vector<std::int64_t>& to) const;

 private:
  struct PieceSummary {
    std::int64_t first_start;
    std::uint64_t checksum;
  };

  std::span<std::int64_t const> read(FileDescriptor const& file, std::size_t piece,
                                     std::span<std::int64_t> buffer) const;

  std::filesystem::path m_path;
  std::int64_t m_offset_bytes, m_documents;
  std::vector<PieceSummary> m_pieces;
};

}  // namespace spillway
