#include "io/parquet/parquet.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "io/parquet/fields.hpp"
#include "io/parquet/row_text.hpp"
#include "io/parquet/table_file.hpp"

namespace spillway {
namespace {

class Table final : public RecordSource {
 public:
  Table(std::filesystem::path path, std::int64_t kept_bytes)
      : m_file(std::move(path)), m_fields(fields_of(m_file)), m_kept_bytes(kept_bytes) {
    if (std::ranges::none_of(m_fields, &TableField::is_known))
      throw Error(Status::bad_input,
                  fmt::format("{}: has no column of texts or numbers", m_file.path().string()));
  }

  RecordBlock next(std::size_t bytes) override {
    RecordBlock block;
    while (block.text.size() < bytes && has_row()) {
      auto const begin = block.text.size();
      m_rows->append(block.text);
      block.records.push_back({begin, block.text.size(), ++m_done});
      --m_left;
    }
    return block;
  }
  // Of the file as much is taken to be read as of its rows.
  std::int64_t file_bytes() const override {
    auto const all = std::max<std::int64_t>(m_file.rows(), 1);
    auto const part = static_cast<double>(std::min(m_done, all)) / static_cast<double>(all);
    return static_cast<std::int64_t>(part * static_cast<double>(m_file.size_bytes()));
  }

 private:
  bool has_row() {
    while (m_left == 0) {
      if (m_rows) m_rows->require_end();
      m_rows.reset();
      if (m_group == m_file.groups()) return false;
      m_left = std::max<std::int64_t>(m_file.rows_of(m_group), 0);
      m_rows.emplace(m_file, m_group++, m_fields, m_kept_bytes);
    }
    return true;
  }

  TableFile m_file;
  std::vector<TableField> m_fields;
  std::int64_t m_kept_bytes;
  std::optional<RowTexts> m_rows;  // of the row group before m_group
  std::int32_t m_group = 0;
  std::int64_t m_left = 0, m_done = 0;  // rows
};

}  // namespace

std::unique_ptr<RecordSource> open_parquet(std::filesystem::path const& path,
                                           std::int64_t kept_bytes) {
  return std::make_unique<Table>(path, kept_bytes);
}

}  // namespace spillway
