#include "io/parquet/row_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/units.hpp"
#include "io/texts/record_source.hpp"

namespace spillway {
namespace {

void append_text(std::string_view text, std::string& to) {
  to += '"';
  for (std::size_t at = 0; at < text.size();) {
    auto end = at;
    while (end < text.size() && static_cast<unsigned char>(text[end]) >= ' ' && text[end] != '"' &&
           text[end] != '\\')
      ++end;
    to.append(text, at, end - at);
    if (end < text.size()) {
      auto const c = text[end];
      if (c == '"' || c == '\\')
        to += {'\\', c};
      else if (c == '\n')
        to += "\\n";
      else
        fmt::format_to(std::back_inserter(to), "\\u{:04x}", static_cast<unsigned char>(c));
    }
    at = end + 1;
  }
  to += '"';
}

// What is no number has no name in JSON.
template <class Real>
void append_real(Real value, std::string& to) {
  if (!std::isfinite(value)) {
    to += "null";
    return;
  }
  std::array<char, 64> digits{};
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string_view const text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  to += text;
  if (text.find_first_of(".e") == text.npos) to += ".0";
}

void append_value(ColumnCursor const& at, Scalar scalar, std::string& to) {
  auto const number = [&](auto value) { fmt::format_to(std::back_inserter(to), "{}", value); };
  switch (scalar) {
    case Scalar::none:
      to += "null";
      break;
    case Scalar::text:
      append_text(at.text(), to);
      break;
    case Scalar::int32:
      number(at.value<std::int32_t>());
      break;
    case Scalar::int64:
      number(at.value<std::int64_t>());
      break;
    case Scalar::uint32:
      number(at.value<std::uint32_t>());
      break;
    case Scalar::uint64:
      number(at.value<std::uint64_t>());
      break;
    case Scalar::single:
      append_real(at.value<float>(), to);
      break;
    case Scalar::twice:
      append_real(at.value<double>(), to);
      break;
    case Scalar::truth:
      to += at.value<std::uint8_t>() != 0 ? "true" : "false";
      break;
  }
}

}  // namespace

std::string text_as_json(std::string_view text) {
  std::string json;
  append_text(text, json);
  return json;
}

RowTexts::RowTexts(TableFile const& table, std::int32_t group,
                   std::vector<TableField> const& fields, std::int64_t kept_bytes)
    : m_table(table),
      m_group(group),
      m_fields(fields),
      m_columns(static_cast<std::size_t>(carquet_schema_num_columns(&table.schema()))) {
  std::int64_t columns = 0;
  for (auto const& field : fields) columns += field.is_known() ? field.columns : 0;
  for (auto const& field : fields)
    if (field.is_known()) open(field, kept_bytes / columns);
}

void RowTexts::open(TableField const& field, std::int64_t kept_bytes) {
  if (field.kind == TableField::Kind::scalar)
    m_columns.at(static_cast<std::size_t>(field.column)) =
        std::make_unique<ColumnCursor>(m_table, m_group, field, kept_bytes);
  for (auto const& part : field.parts) open(part, kept_bytes);
}

void RowTexts::append(std::string& text) {
  m_begin = text.size();
  for (auto const& column : m_columns)
    if (column && column->repeated() != 0) column->damaged("has other rows than others");
  write_object(m_fields, text);
}

void RowTexts::require_end() {
  for (auto const& column : m_columns)
    if (column && !column->is_at_end()) column->damaged("has more values than others");
}

// A row's JSON is at most six times as long as the texts that are counted here.
void RowTexts::require_room(std::size_t bytes, std::string const& text) const {
  if (text.size() - m_begin + bytes > kMostRecordBytes)
    m_table.refuse(m_group, "has a row of more than " + human_bytes(kMostRecordBytes));
}

void RowTexts::write(TableField const& field, std::string& text) {
  require_room(0, text);
  if (first(field).defined() < field.defined) {
    pass_over(field, field.defined - 1);
    text += "null";
  } else if (field.kind == TableField::Kind::list) {
    write_list(field, text);
  } else if (field.kind == TableField::Kind::object) {
    write_object(field.parts, text);
  } else {
    if (field.scalar == Scalar::text) require_room(first(field).text().size(), text);
    append_value(first(field), field.scalar, text);
    first(field).pass();
  }
}

void RowTexts::write_list(TableField const& list, std::string& text) {
  auto const& element = list.parts.front();
  if (first(list).defined() == list.defined) {
    pass_over(list, list.defined);
    text += "[]";
    return;
  }
  text += '[';
  write(element, text);
  while (!first(list).is_at_end() && first(list).repeated() == list.repeated) {
    require_repeated(list, list.repeated);
    text += ',';
    write(element, text);
  }
  text += ']';
}

void RowTexts::write_object(std::vector<TableField> const& parts, std::string& text) {
  text += '{';
  for (auto const& part : parts) {
    if (&part != &parts.front()) text += ',';
    text += part.key;
    if (m_columns.at(static_cast<std::size_t>(part.column)))
      write(part, text);
    else
      text += "null";
  }
  text += '}';
}

// Passes over one place of all columns of a field that is not there, or has no element.
void RowTexts::pass_over(TableField const& field, int most_defined) {
  for (auto i = field.column; i < field.column + field.columns; ++i) {
    if (column(i).defined() > most_defined) column(i).damaged("has a value where others have none");
    column(i).pass();
  }
}

void RowTexts::require_repeated(TableField const& field, int repeated) {
  for (auto i = field.column; i < field.column + field.columns; ++i) {
    if (column(i).repeated() != repeated) column(i).damaged("has other lists than others");
  }
}

}  // namespace spillway
