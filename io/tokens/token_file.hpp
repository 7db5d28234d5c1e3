// A TokenFile is read at random positions. It is an HDF5 file (token_format.hpp) or a .bin of
// llm.c, which train_gpt2.c defines: a header of 256 int32 that begin with magic number, version
// and number of tokens, and then tokens of 2 or 4 bytes, without checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/checksum.hpp"
#include "io/file/file.hpp"
#include "io/tokens/document_table.hpp"
#include "io/tokens/token_layout.hpp"

namespace spillway {

// A TokenFile reads tokens by pread, since mapped pages would count as the process's resident
// memory.
class TokenFile {
 public:
  // Throws Error: bad_input if the file is missing, empty or no token file, damaged if it is cut
  // short or its header or table of documents is wrong, storage if it cannot be read.
  explicit TokenFile(std::filesystem::path path);

  std::filesystem::path const& path() const { return m_path; }
  TokenLayout const& layout() const { return m_layout; }
  std::int64_t count() const { return m_layout.count; }
  std::int64_t vocab() const { return m_layout.vocab; }
  // Returns a text that tells these tokens from others, wherever the file lies. It is a checksum of
  // tokenizer, vocabulary, width and number of tokens, the table of documents, and either the
  // checksums of the tokens or, if the file has none, the tokens themselves, and likewise of which
  // are learned. Of a long file only
  // evenly spaced ranges of these bytes are read. Throws Error: storage, or damaged if the file has
  // become shorter.
  std::string fingerprint() const;

  // Reads tokens [first, first + to.size()), which must lie in the file. Does not allocate. Any
  // thread may call `read`. If the file has checksums, they are verified. Throws Error: damaged if
  // a checksum is wrong or a token is outside the vocabulary (file and position are named), storage
  // if the file cannot be read.
  void read(std::int64_t first, std::span<std::int32_t> to) const;

  // Returns whether the file says which tokens are learned; without that all are.
  bool has_mask() const { return m_layout.mask_offset_bytes > 0; }
  // Reads of tokens [first, first + to.size()) whether they are learned: 1, or 0 where they are
  // only seen. There must be a mask. Does not allocate, verifies and throws as `read` does.
  void read_mask(std::int64_t first, std::span<std::uint8_t> to) const;

  // append_document_starts appends to `to`, in ascending order, the positions in [first, end) at
  // which a document begins, and nothing if the file records no documents, as llm.c's files never
  // do. Throws what DocumentTable::append_starts throws.
  bool has_documents() const { return m_layout.documents > 0; }
  void append_document_starts(std::int64_t first, std::int64_t end,
                              std::vector<std::int64_t>& to) const {
    m_documents.append_starts(m_file, first, end, to);
  }

 private:
  // A dataset of numbers that are `each_bytes` long.
  struct Dataset {
    std::int64_t offset_bytes, checksums_offset_bytes;  // 0: it has no checksums
    int each_bytes;
    char const* what;  // for messages
  };

  Dataset tokens() const {
    return {m_layout.offset_bytes, m_layout.checksums_offset_bytes, m_layout.token_bytes, "tokens"};
  }
  Dataset mask() const {
    return {m_layout.mask_offset_bytes, m_layout.mask_checksums_offset_bytes, 1,
            "the mask of tokens"};
  }
  std::span<std::byte const> proved_piece(Dataset const& data, std::int64_t piece,
                                          std::span<std::byte> buffer) const;
  template <class Take>
  void each_part(Dataset const& data, std::int64_t first, std::int64_t count,
                 Take const& take) const;
  void add_fingerprint(Dataset const& data, StreamingChecksum& sum) const;
  void require_vocab(std::int64_t first, std::span<std::int32_t const> tokens) const;

  std::filesystem::path m_path;
  TokenLayout m_layout;
  FileDescriptor m_file;
  DocumentTable m_documents;
};

}  // namespace spillway
