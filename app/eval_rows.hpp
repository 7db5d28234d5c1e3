// Says what `eval` found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/loss_sums.hpp"

namespace spillway {

// Losses over one text, or over several.
struct TextLoss {
  LossSums learned;                   // over the targets that a run would learn
  std::optional<LossSums> seen = {};  // over those that it would only see, such as prompts
  std::int64_t tokens = 0;            // that were read

  TextLoss& operator+=(TextLoss const& other);
};

// What `eval` found with a checkpoint.
struct EvalRow {
  std::string checkpoint;
  std::int64_t step = 0;
  std::vector<TextLoss> texts;  // in the order of their names

  TextLoss total() const;
};

// Returns a line for one text and one checkpoint; else a table in which the checkpoints of each
// text stand below each other, and those of all texts at the end.
std::string eval_text(std::vector<std::string> const& names, std::vector<EvalRow> const& rows);

// Returns the same as JSON.
std::string eval_json(std::vector<std::string> const& names, std::vector<EvalRow> const& rows);

}  // namespace spillway
