#include "app/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "app/table_closing.hpp"
#include "app/table_columns.hpp"
#include "base/wrapped.hpp"

namespace spillway {
namespace {

// Rows of figures may be wider than the page, up to here: words of what bounds a plan stand last.
constexpr std::size_t kMostColumns = 100;

std::size_t width_of(std::vector<Column> const& columns) {
  std::size_t width = 0;
  for (auto const& one : columns) width += one.width() + 2;
  return width;
}

std::string line_of(std::vector<Column> const& columns, auto const& cell) {
  std::string line;
  for (auto const& one : columns) {
    auto const text = cell(one);
    line += one.left ? fmt::format("{:<{}}  ", text, one.width())
                     : fmt::format("{:>{}}  ", text, one.width());
  }
  return line;
}

// Says what is missing. The row says which budgets are too small.
std::string refusal(TriedPlan const& plan) {
  auto text = in_short(plan.why);
  if (plan.status == Status::bad_input)
    return fmt::format("not possible: {}", text.substr(0, text.find("; ")));
  auto const need = text.find("needs at least");
  return fmt::format("does not fit: {}", text.substr(need == text.npos ? 0 : need));
}

}  // namespace

std::string table_text(PlanTable const& table) {
  auto const values = value_columns(table);
  auto columns = values;
  if (any_fits(table)) std::ranges::move(plan_columns(table), std::back_inserter(columns));
  while (width_of(columns) > kMostColumns + 2 && columns.size() > values.size() + 2)
    columns.pop_back();
  auto const heads = line_of(columns, [](auto const& one) { return one.head; });
  auto text = std::string(without_trailing_blanks(heads)) + "\n";
  for (std::size_t at = 0; auto const& row : table.rows) {
    auto const cell = [&](auto const& one) { return one.cells[at]; };
    if (row.plan.fits()) {
      text.append(without_trailing_blanks(line_of(columns, cell))).append("\n");
    } else {
      auto const begin = line_of(values, cell);
      text += wrapped_line(begin + refusal(row.plan), std::string(begin.size(), ' '), kPageColumns);
    }
    ++at;
  }
  auto const closing = closing_words(table);
  return closing.empty() ? text : text + wrapped_line(closing, "", kPageColumns);
}

}  // namespace spillway
