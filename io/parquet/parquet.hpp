// Gives the rows of a table of Parquet as records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "io/texts/record_source.hpp"

namespace spillway {

// Returns whether a file begins as tables of Parquet do. Throws Error(bad_input), which names it,
// if it cannot be opened or read.
bool begins_as_parquet(std::filesystem::path const& path);

// Opens a table. Of each row a record is made that has all columns, as JSON: lists, maps (lists of
// `key` and `value`) and structures of texts, numbers and truth values; what is missing, or of
// another type, is null. It is read page by page, so that row groups of any size need little
// memory: about `kept_bytes` of texts, and a page of each column. Throws Error that names the file:
// bad_input if it cannot be opened, is no table, or this build lacks the library; damaged, with row
// group and column, if it cannot be unpacked.
std::unique_ptr<RecordSource> open_parquet(std::filesystem::path const& path,
                                           std::int64_t kept_bytes = 128 << 20);

}  // namespace spillway
