// A TableFile is an open table of Parquet; only for this folder's sources.
#pragma once

#include <carquet/carquet.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace spillway {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
struct CloseTable {
  void operator()(carquet_reader_t* reader) const noexcept { carquet_reader_close(reader); }
};
struct CloseColumn {
  void operator()(carquet_column_reader_t* reader) const noexcept {
    carquet_column_reader_free(reader);
  }
};
using ColumnReader = std::unique_ptr<carquet_column_reader_t, CloseColumn>;

class TableFile {
 public:
  // Throws Error: bad_input if it cannot be opened or is no table, damaged if its end, which says
  // what it holds, cannot be read.
  explicit TableFile(std::filesystem::path path);

  carquet_schema_t const& schema() const { return *carquet_reader_schema(m_reader.get()); }
  std::int32_t groups() const { return carquet_reader_num_row_groups(m_reader.get()); }
  // Returns how many rows the table is said to have, and those of a group.
  std::int64_t rows() const { return carquet_reader_num_rows(m_reader.get()); }
  std::int64_t rows_of(std::int32_t group) const;
  std::int64_t size_bytes() const { return m_size_bytes; }
  // Opens a column of a row group at its first value. Throws Error(damaged).
  ColumnReader open(std::int32_t group, std::int32_t column) const;

  // Throw Error(bad_input) about a sound table that is not for us.
  [[noreturn]] void refuse(std::string const& why) const;
  [[noreturn]] void refuse(std::int32_t group, std::string const& why) const;
  // Throws Error(damaged) that begins with the file, and with the row group, counted from 1.
  [[noreturn]] void damaged(std::string const& why) const;
  [[noreturn]] void damaged(std::int32_t group, std::string const& why) const;
  [[noreturn]] void damaged(std::int32_t group, std::int32_t column, std::string const& why) const;
  std::filesystem::path const& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
  std::int64_t m_size_bytes = 0;
  std::unique_ptr<std::FILE, CloseFile> m_file;
  std::unique_ptr<carquet_reader_t, CloseTable> m_reader;
};

// Returns why carquet has failed, in one line.
std::string reason_in(carquet_error_t const& error);

// Returns the names that lead to a column, the top one first.
std::vector<std::string> path_of(carquet_schema_t const& schema, std::int32_t column);

}  // namespace spillway
