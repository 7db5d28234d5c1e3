// Knows where the documents of a token file begin, from the file's table document_starts. Every
// piece of the table is verified whenever it is read.
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
  // the first document begins at token 0, all begin one after the other inside the file, and the
  // table has the checksum that the file's head says; storage if it cannot be read.
  DocumentTable(std::filesystem::path path, FileDescriptor const& file, TokenLayout const& layout);

  // Appends those tokens of [first, end), first >= 0, at which a document begins, in ascending
  // order. Does not allocate if `to` has room. Any thread may call it. Throws Error: damaged if a
  // piece is not what the constructor read, storage if it cannot be read.
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
