#include "app/eval_rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/json_text.hpp"
#include "base/wrapped.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

LossSums sum(LossSums const& one, LossSums const& other) {
  return {one.loss + other.loss, one.weight + other.weight};
}

bool has_seen(TextLoss const& text) {
  return text.seen && text.seen->mean();
}

double perplexity(LossSums const& sums) {
  return std::exp(sums.mean().value_or(std::nan("")));
}

std::string seen_text(TextLoss const& text) {
  if (!has_seen(text)) return "";
  return fmt::format("prompt perplexity {:.4f} of {}  ", perplexity(*text.seen),
                     text.seen->targets());
}

std::string line_of(EvalRow const& row) {
  auto const text = row.total();
  return fmt::format("loss {:.6f}  perplexity {:.4f}  tokens {}  targets {}  {}({} of step {})\n",
                     *text.learned.mean(), perplexity(text.learned), text.tokens,
                     text.learned.targets(), seen_text(text), row.checkpoint, row.step);
}

Cells cells_of(std::string const& name, EvalRow const& row, TextLoss const& text) {
  bool const seen = has_seen(text);
  return {name,
          fmt::format("{}, step {}", row.checkpoint, row.step),
          fmt::format("{:.6f}", text.learned.mean().value_or(std::nan(""))),
          fmt::format("{:.4f}", perplexity(text.learned)),
          fmt::format("{}", text.learned.targets()),
          seen ? fmt::format("{:.4f}", perplexity(*text.seen)) : "",
          seen ? fmt::format("{}", text.seen->targets()) : ""};
}

std::string table_of(std::vector<Cells> rows) {
  bool const has_prompts = std::ranges::any_of(
      rows.begin() + 1, rows.end(), [](Cells const& row) { return !row.back().empty(); });
  if (!has_prompts)
    for (auto& row : rows) row.resize(row.size() - 2);
  std::vector<std::size_t> widths(rows.front().size());
  for (auto const& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string table;
  for (auto const& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i < 2 ? fmt::format("{:<{}}  ", row[i], widths[i])
                    : fmt::format("{:>{}}  ", row[i], widths[i]);
    table += fmt::format("{}\n", without_trailing_blanks(line));
  }
  return table;
}

Json json_of(TextLoss const& text) {
  Json json = {{"loss", text.learned.mean().value_or(std::nan(""))},
               {"perplexity", perplexity(text.learned)},
               {"tokens", text.tokens},
               {"targets", text.learned.targets()}};
  if (!has_seen(text)) return json;
  json["prompt_loss"] = *text.seen->mean();
  json["prompt_perplexity"] = perplexity(*text.seen);
  json["prompt_targets"] = text.seen->targets();
  return json;
}

}  // namespace

TextLoss& TextLoss::operator+=(TextLoss const& other) {
  learned = sum(learned, other.learned);
  if (other.seen) seen = sum(seen.value_or(LossSums{}), *other.seen);
  tokens += other.tokens;
  return *this;
}

TextLoss EvalRow::total() const {
  TextLoss total;
  for (auto const& text : texts) total += text;
  return total;
}

std::string eval_text(std::vector<std::string> const& names, std::vector<EvalRow> const& rows) {
  if (names.size() == 1 && rows.size() == 1) return line_of(rows.front());
  std::vector<Cells> cells = {
      {"text", "checkpoint", "loss", "perplexity", "targets", "prompt perplexity", "of targets"}};
  for (std::size_t text = 0; text < names.size(); ++text)
    for (auto const& row : rows)
      cells.push_back(cells_of(&row == &rows.front() ? names[text] : "", row, row.texts[text]));
  if (names.size() > 1)
    for (auto const& row : rows)
      cells.push_back(cells_of(&row == &rows.front() ? "all" : "", row, row.total()));
  return table_of(std::move(cells));
}

std::string eval_json(std::vector<std::string> const& names, std::vector<EvalRow> const& rows) {
  auto checkpoints = Json::array();
  for (auto const& row : rows) {
    Json one = {{"checkpoint", row.checkpoint}, {"step", row.step}};
    one.update(json_of(row.total()));
    one["texts"] = Json::array();
    for (std::size_t text = 0; text < names.size(); ++text) {
      Json part = {{"text", names[text]}};
      part.update(json_of(row.texts[text]));
      one["texts"].push_back(part);
    }
    checkpoints.push_back(one);
  }
  return json_text({{"checkpoints", checkpoints}});
}

}  // namespace spillway
