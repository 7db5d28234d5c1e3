// CollectedTokens keep the tokens of all texts until it is known how many there are; only for this
// folder's sources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "io/tokens/encoding_team.hpp"
#include "io/tokens/token_spool.hpp"
#include "io/tokens/unfinished_tokens.hpp"

namespace spillway {

class CollectedTokens {
 public:
  // Tokens are below `vocab`. Texts end with `separator` unless it is null. Throws what TokenSpool
  // throws, as does `add`.
  CollectedTokens(std::filesystem::path directory, std::int64_t vocab,
                  std::int32_t const* separator);
  // Goes on with what `before` has, and keeps its tokens there; it must outlive this object.
  CollectedTokens(UnfinishedTokens& before, std::int64_t vocab, std::int32_t const* separator);

  void add(EncodedJob const& done);
  // Returns how many jobs were added, also by processes before this one, and of how many bytes.
  std::int64_t jobs() const { return m_jobs; }
  std::int64_t file_bytes() const { return m_file_bytes; }
  // Lets a process that comes later go on from here. Throws Error(storage).
  void keep();

  TokenSpool const& tokens() const { return m_tokens; }
  // Returns of each token 1 if it is learned, else 0; null if all are.
  TokenSpool const* mask() const { return m_mask ? &*m_mask : nullptr; }
  std::optional<std::int64_t> learned() const {
    return m_mask ? std::optional(m_learned) : std::nullopt;
  }
  std::vector<std::int64_t> const& starts() const { return m_starts; }
  std::int64_t empty_files() const { return m_empty_files; }
  std::int64_t empty_records() const { return m_empty_records; }

 private:
  void append(std::span<std::int32_t const> ids, std::span<std::uint8_t const> learned);
  void begin_mask();
  void end_document(bool is_record, bool is_ended);

  void read_starts(std::int64_t count);
  void keep_starts();

  std::filesystem::path m_directory;         // of files without a name
  UnfinishedTokens* m_unfinished = nullptr;  // null: files have none
  TokenSpool m_tokens;
  std::optional<TokenSpool> m_mask;  // from the first token on that is not learned
  std::int32_t const* m_separator;
  std::int64_t m_begin = 0;  // the first token of the document under way
  std::int64_t m_learned = 0;
  std::uint8_t m_last = 1;  // says whether the last token is learned
  std::vector<std::int64_t> m_starts;
  std::optional<TokenSpool> m_kept_starts;  // two numbers for each: its lower and its upper half
  std::int64_t m_jobs = 0, m_file_bytes = 0;
  std::int64_t m_empty_files = 0, m_empty_records = 0;
};

}  // namespace spillway
