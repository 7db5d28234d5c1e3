// Where the documents of a token file begin: its table of document_starts, every piece of which is
// proved whenever it is read.
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
  // documents begin at token 0 and one after the other inside the file, and as its head says;
  // storage when it cannot be read.
  DocumentTable(std::filesystem::path path, FileDescriptor const& file, TokenLayout const& layout);

  // Appends the tokens of [first, end), first >= 0, at which a document begins, ascending. Does not
  // allocate where `to` has room; any thread. Throws Error: damaged for a piece that is not what
  // the constructor read, storage when it cannot be read.
  void append_starts(FileDescriptor const& file, std::int64_t first, std::int64_t end,
                     std::vector<std::int64_t>& to) const;

 private:
  struct Piece {
    std::int64_t first_start;
    std::uint64_t checksum;
  };

  std::span<std::int64_t const> read(FileDescriptor const& file, std::size_t piece,
                                     std::span<std::int64_t> buffer) const;

  std::filesystem::path m_path;
  std::int64_t m_at_bytes, m_documents;
  std::vector<Piece> m_pieces;
};

}  // namespace spillway
