// Writes rows of a table as JSON; only for this folder's sources.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/parquet/columns.hpp"
#include "io/parquet/fields.hpp"

namespace spillway {

// Returns a text as JSON has it.
std::string text_as_json(std::string_view text);

// Writes the rows of one row group, from the first to the last.
class RowTexts {
 public:
  // `fields` must live as long as the writer. The columns keep about `kept_bytes` of texts.
  RowTexts(TableFile const& table, std::int32_t group, std::vector<TableField> const& fields,
           std::int64_t kept_bytes);

  // Appends the next row to `text`. Throws Error: damaged if there is none, or its columns
  // contradict each other, bad_input if it is longer than a record may be.
  void append(std::string& text);
  // Throws Error(damaged) if there is another row.
  void require_end();

 private:
  void open(TableField const& field, std::int64_t kept_bytes);
  void require_room(std::size_t bytes, std::string const& text) const;
  void write(TableField const& field, std::string& text);
  void write_list(TableField const& list, std::string& text);
  void write_object(std::vector<TableField> const& parts, std::string& text);
  void pass_over(TableField const& field, int most_defined);
  void require_repeated(TableField const& field, int repeated);
  ColumnCursor& column(std::int32_t i) { return *m_columns[static_cast<std::size_t>(i)]; }
  ColumnCursor& first(TableField const& field) { return column(field.column); }

  TableFile const& m_table;
  std::int32_t m_group;
  std::vector<TableField> const& m_fields;
  std::vector<std::unique_ptr<ColumnCursor>> m_columns;  // null: it is not read
  std::size_t m_begin = 0;                               // of the row in the text
};

}  // namespace spillway
