// A ColumnCursor goes through the values of one column of a row group; only for this folder's
// sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "io/parquet/fields.hpp"
#include "io/parquet/table_file.hpp"

namespace spillway {

// At each place there is a value or none, which its definition level says; its repetition level
// says which list goes on there.
class ColumnCursor {
 public:
  // `scalar` must live as long as the cursor. About `kept_bytes` of texts are kept, or a page.
  ColumnCursor(TableFile const& table, std::int32_t group, TableField const& scalar,
               std::int64_t kept_bytes);

  // Throws Error(damaged), as all below.
  bool is_at_end() { return m_at == m_count && !has_more(); }
  // These are of the next place.
  int defined() { return here(), m_defined[m_at]; }
  int repeated() { return here(), m_repeated[m_at]; }
  bool has_value() { return defined() == m_scalar.defined; }
  // These are of a place that has a value.
  template <class T>
  T value() const {
    T value;
    std::memcpy(&value, m_values.data() + m_value * m_scalar.value_bytes, sizeof(T));
    return value;
  }
  std::string_view text() const;

  void pass();
  [[noreturn]] void damaged(std::string const& why) const;

 private:
  void here() {
    if (is_at_end()) damaged("has fewer values than others");
  }
  bool has_more();
  void open_again();
  std::int64_t bytes_of_texts(std::size_t values) const;

  TableFile const& m_table;
  std::int32_t m_group;
  TableField const& m_scalar;
  std::int64_t m_kept_bytes;
  ColumnReader m_reader;
  std::int64_t m_given_bytes = 0;                  // of texts, by m_reader
  std::int64_t m_read = 0;                         // places
  std::size_t m_at = 0, m_count = 0, m_value = 0;  // m_value counts the values before m_at
  std::vector<std::int16_t> m_defined, m_repeated;
  std::vector<std::byte> m_values;
};

}  // namespace spillway
