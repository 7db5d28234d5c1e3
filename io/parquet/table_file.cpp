#include "io/parquet/table_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/cannot_give.hpp"
#include "base/error.hpp"
#include "base/one_line.hpp"
#include "io/file/file.hpp"
#include "io/parquet/parquet.hpp"

namespace spillway {
namespace {

constexpr std::int32_t kMostDepth = 64;

}  // namespace

TableFile::TableFile(std::filesystem::path path) : m_path(std::move(path)) {
  if (!begins_as_parquet(m_path))
    throw Error(Status::bad_input,
                fmt::format("{}: is no table of Parquet, which begins with PAR1", m_path.string()));
  auto file = open_for_reading(m_path);
  m_size_bytes = spillway::size_bytes(file, m_path);
  m_file.reset(::fdopen(file.get(), "rb"));
  if (!m_file) throw no_more_memory();
  file.release();
  carquet_reader_options_t options;
  carquet_reader_options_init(&options);
  options.num_threads = 1;
  carquet_error_t error{};
  m_reader.reset(carquet_reader_open_file(m_file.get(), &options, &error));
  if (!m_reader) damaged("is no whole table of Parquet: " + reason_in(error));
}

std::int64_t TableFile::rows_of(std::int32_t group) const {
  carquet_row_group_metadata_t metadata{};
  if (carquet_reader_row_group_metadata(m_reader.get(), group, &metadata) != CARQUET_OK)
    damaged(group, "cannot be found");
  return metadata.num_rows;
}

// carquet writes values of the type that a row group says, which must be that of the schema.
ColumnReader TableFile::open(std::int32_t group, std::int32_t column) const {
  carquet_error_t error{};
  carquet_column_chunk_metadata_t metadata{};
  if (carquet_reader_column_chunk_metadata(m_reader.get(), group, column, &metadata) != CARQUET_OK)
    damaged(group, column, "cannot be found");
  std::int32_t type = 0;  // a damaged one has no enumerator
  std::memcpy(&type, &metadata.type, sizeof(type));
  if (type != static_cast<std::int32_t>(carquet_schema_column_type(&schema(), column)))
    damaged(group, column, "has values of another type than the schema says");
  ColumnReader reader(carquet_reader_get_column(m_reader.get(), group, column, &error));
  if (!reader) damaged(group, column, "cannot be read: " + reason_in(error));
  return reader;
}

void TableFile::refuse(std::string const& why) const {
  throw Error(Status::bad_input, fmt::format("{}: {}", m_path.string(), why));
}

void TableFile::refuse(std::int32_t group, std::string const& why) const {
  refuse(fmt::format("row group {}: {}", group + 1, why));
}

void TableFile::damaged(std::string const& why) const {
  throw Error(Status::damaged, fmt::format("{}: {}", m_path.string(), why));
}

void TableFile::damaged(std::int32_t group, std::string const& why) const {
  damaged(fmt::format("row group {}: {}", group + 1, why));
}

void TableFile::damaged(std::int32_t group, std::int32_t column, std::string const& why) const {
  damaged(group,
          fmt::format("column {}: {}",
                      one_line(fmt::format("{}", fmt::join(path_of(schema(), column), "."))), why));
}

std::string reason_in(carquet_error_t const& error) {
  std::string const message = error.message;
  return one_line(message.empty() ? carquet_status_string(error.code) : message);
}

std::vector<std::string> path_of(carquet_schema_t const& schema, std::int32_t column) {
  std::array<char const*, kMostDepth> names{};
  auto const depth = carquet_schema_column_path(&schema, column, names.data(), kMostDepth);
  std::vector<std::string> path;
  for (std::int32_t i = 0; i < depth && i < kMostDepth; ++i) {
    auto const* const name = names.at(static_cast<std::size_t>(i));
    path.emplace_back(name != nullptr ? name : "");
  }
  return path;
}

}  // namespace spillway
