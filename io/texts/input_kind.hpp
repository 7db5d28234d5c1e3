// Says what a file of texts is, by its name and its first bytes. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

// text: the whole file is one document. jsonl: each line is a record. json: a list of records.
// parquet: a table whose rows are records.
enum class TextFormat : std::uint8_t { text, jsonl, json, parquet };
enum class Packing : std::uint8_t { none, gzip, zstd };

struct InputKind {
  TextFormat format = TextFormat::text;
  Packing packing = Packing::none;
};

// Returns what the ending of a name says, such as .jsonl.gz; nothing if it is not known.
std::optional<InputKind> kind_by_name(std::filesystem::path const& file);
// Returns the endings that are known, for a message.
std::string known_endings();

inline constexpr std::size_t kMagicBytes = 4;
// `beginning` has the first kMagicBytes bytes of a file, or all if it is shorter.
Packing packing_of(std::string_view beginning);
bool is_parquet(std::string_view beginning);

}  // namespace spillway
