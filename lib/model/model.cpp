#include "model/model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/check.hpp"
#include "base/error.hpp"
#include "model/adapters.hpp"

namespace spillway {
namespace {

// The rows of the families are in the order of the enumerators of Family.
struct FamilyRow {
  void (*complete)(ModelConfig&);
  void (*append)(Config const&, std::int64_t vocab, Graph&);
  std::vector<Objective> objectives;  // what it can be trained for; `auto` means the first
  bool learns_positions;              // whether it has a table of positions
  std::int64_t vocab;                 // number of tokens of its published models
};

FamilyRow const& row_of(Family family) {
  static FamilyRow const rows[] = {{complete_gpt, append_gpt, {Objective::next}, true, 50257},
                                   {complete_bert, append_bert, {Objective::masked}, true, 30522},
                                   {complete_t5, append_t5, {Objective::spans}, false, 32128},
                                   {complete_llama, append_llama, {Objective::next}, false, 32000}};
  static_assert(std::size(rows) == kWords<Family>.size());
  return rows[static_cast<std::size_t>(family)];
}

}  // namespace

Activation activation_of(ModelConfig const& model) {
  check(model.activation.has_value(), "model.activation", "is auto in a model to be built");
  return *model.activation;
}

std::int64_t published_vocab(Family family) {
  return row_of(family).vocab;
}

Objective objective_of(Config const& config) {
  auto const& offered = row_of(config.model.family).objectives;
  auto const asked = config.data.objective.value_or(offered.front());
  if (std::ranges::count(offered, asked) > 0) return asked;
  throw Error(Status::bad_input,
              fmt::format("data.objective: {} is not for models of the family {}; give {} or auto",
                          word(asked), word(config.model.family), word(offered.front())));
}

ModelConfig completed(Config const& config, std::int64_t vocab) {
  auto model = config.model;
  model.vocab = vocab;
  if (model.positions == 0) model.positions = config.data.sequence;
  row_of(model.family).complete(model);
  complete_lora(model);
  return model;
}

std::optional<std::int64_t> most_rows(ModelConfig const& model) {
  if (!row_of(model.family).learns_positions) return std::nullopt;
  return model.positions;
}

void require_positions(ModelConfig const& model, std::int64_t rows) {
  auto const most = most_rows(model);
  if (!most || rows <= *most) return;
  throw Error(Status::bad_input,
              fmt::format("data.sequence: {} is more than the model has positions for; give at "
                          "most model.positions, which is {}",
                          rows, *most));
}

Graph build_model(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                  Purpose purpose) {
  Config full = config;
  full.model = completed(config, vocab);
  auto const lengths = stack_lengths(config.data, objective_of(config));
  require_positions(full.model, lengths[0]);
  if (lengths.size() > 1) full.data.target_length = lengths[1];
  Graph graph;
  graph.purpose = purpose;
  graph.arithmetic = arithmetic;
  graph.optim = config.optim;
  graph.seed = config.run.seed;
  row_of(full.model.family).append(full, vocab, graph);
  return graph;
}

Graph build_generator(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                      Decoding const& decoding) {
  Config full = config;
  full.model = completed(config, vocab);
  full.data.target_length = decoding.rows;
  Graph graph;
  graph.purpose = Purpose::generate;
  graph.decoding = decoding;
  graph.arithmetic = arithmetic;
  graph.arithmetic.micro = 1;
  bool const encodes = objective_of(config) == Objective::spans;
  graph.arithmetic.sequence = encodes ? decoding.inputs : decoding.rows;
  row_of(full.model.family).append(full, vocab, graph);
  return graph;
}

}  // namespace spillway
