#include "io/parquet/columns.hpp"

#include <algorithm>

namespace spillway {
namespace {

constexpr std::size_t kPlaces = 1024;  // that are read at a time

std::size_t readable_bytes_of(TableFile const& table, std::int32_t group,
                              TableField const& scalar) {
  if (scalar.value_bytes == 0)
    table.damaged(group, scalar.column, "has values that are too long to be passed over");
  return scalar.value_bytes;
}

}  // namespace

ColumnCursor::ColumnCursor(TableFile const& table, std::int32_t group, TableField const& scalar,
                           std::int64_t kept_bytes)
    : m_table(table),
      m_group(group),
      m_scalar(scalar),
      m_kept_bytes(kept_bytes),
      m_reader(table.open(group, scalar.column)),
      m_defined(kPlaces),
      m_repeated(kPlaces),
      m_values(kPlaces * readable_bytes_of(table, group, scalar)) {}

std::string_view ColumnCursor::text() const {
  auto const text = value<carquet_byte_array_t>();
  if (text.length <= 0) return {};
  return {reinterpret_cast<char const*>(text.data), static_cast<std::size_t>(text.length)};
}

void ColumnCursor::pass() {
  if (has_value()) ++m_value;
  ++m_at;
}

bool ColumnCursor::has_more() {
  if (m_given_bytes > m_kept_bytes) open_again();
  carquet_error_t error{};
  auto const read = carquet_column_read_batch_ex(m_reader.get(), m_values.data(), kPlaces,
                                                 m_defined.data(), m_repeated.data(), &error);
  if (error.code != CARQUET_OK || read < 0) damaged("cannot be read: " + reason_in(error));
  m_at = m_value = 0;
  m_count = static_cast<std::size_t>(read);
  m_read += read;
  if (carquet_schema_column_type(&m_table.schema(), m_scalar.column) ==
      CARQUET_PHYSICAL_BYTE_ARRAY) {
    auto const end = m_defined.begin() + static_cast<std::ptrdiff_t>(m_count);
    auto const values = std::count(m_defined.begin(), end, m_scalar.defined);
    m_given_bytes += bytes_of_texts(static_cast<std::size_t>(values));
  }
  return m_count > 0;
}

// A reader of carquet keeps all texts that it has given: another one passes over them unread.
void ColumnCursor::open_again() {
  m_reader = m_table.open(m_group, m_scalar.column);
  m_given_bytes = 0;
  if (carquet_column_skip(m_reader.get(), m_read) != m_read) damaged("is not what it was");
}

std::int64_t ColumnCursor::bytes_of_texts(std::size_t values) const {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < values; ++i) {
    carquet_byte_array_t text;
    std::memcpy(&text, m_values.data() + i * sizeof(text), sizeof(text));
    bytes += text.length;
  }
  return bytes;
}

void ColumnCursor::damaged(std::string const& why) const {
  m_table.damaged(m_group, m_scalar.column, why);
}

}  // namespace spillway
