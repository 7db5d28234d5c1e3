#include "model/model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "base/error.hpp"

namespace spillway {
namespace {

struct Family {
  std::string name;
  void (*complete)(ModelConfig&);
  void (*append)(Config const&, std::int64_t vocab, Graph&);
  std::vector<Objective> objectives;  // what it can be trained for; `auto` means the first
  bool learns_positions;              // whether it has a table of positions
  std::int64_t vocab;                 // number of tokens of its published models
};

Family const& family(std::string const& name) {
  static Family const families[] = {
      {"gpt", complete_gpt, append_gpt, {Objective::next}, true, 50257},
      {"bert", complete_bert, append_bert, {Objective::masked}, true, 30522},
      {"t5", complete_t5, append_t5, {Objective::spans}, false, 32128},
      {"llama", complete_llama, append_llama, {Objective::next}, false, 32000}};
  std::string offered;
  for (auto const& candidate : families) {
    if (candidate.name == name) return candidate;
    offered += (offered.empty() ? "" : ", ") + candidate.name;
  }
  throw Error(Status::bad_input,
              "model.family: " + name + " is not offered; choose one of: " + offered);
}

}  // namespace

Activation activation_of(ModelConfig const& model) {
  constexpr std::string_view words[] = {"gelu_tanh", "gelu_erf", "relu", "silu"};
  auto const at = std::ranges::find(words, model.activation) - std::begin(words);
  check(at < std::ssize(words), "model.activation", "has a word that lib/config does not know");
  return static_cast<Activation>(at);
}

OptimizerSettings optimizer_of(OptimConfig const& optim) {
  return {optimizer_kind(optim.name), optim.beta1, optim.beta2, optim.eps, optim.weight_decay};
}

std::int64_t published_vocab(std::string const& name) {
  return family(name).vocab;
}

Objective objective_of(Config const& config) {
  auto const& offered = family(config.model.family).objectives;
  auto const& asked = config.data.objective;
  if (asked == "auto") return offered.front();
  auto const found = std::ranges::find(offered, asked, [](Objective one) { return name(one); });
  if (found != offered.end()) return *found;
  throw Error(Status::bad_input,
              fmt::format("data.objective: {} is not for models of the family {}; give {} or auto",
                          asked, config.model.family, name(offered.front())));
}

ModelConfig completed(Config const& config, std::int64_t vocab) {
  auto model = config.model;
  model.vocab = vocab;
  if (model.positions == 0) model.positions = config.data.sequence;
  family(model.family).complete(model);
  return model;
}

std::optional<std::int64_t> most_rows(ModelConfig const& model) {
  if (!family(model.family).learns_positions) return std::nullopt;
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
  if (lengths.size() > 1) full.data.target = lengths[1];
  Graph graph;
  graph.purpose = purpose;
  graph.arithmetic = arithmetic;
  graph.optimizer = optimizer_of(config.optim);
  graph.seed = config.run.seed;
  family(full.model.family).append(full, vocab, graph);
  return graph;
}

Graph build_generator(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                      Decoding const& decoding) {
  Config full = config;
  full.model = completed(config, vocab);
  full.data.target = decoding.rows;
  Graph graph;
  graph.purpose = Purpose::generate;
  graph.decoding = decoding;
  graph.arithmetic = arithmetic;
  graph.arithmetic.micro = 1;
  bool const encodes = objective_of(config) == Objective::spans;
  graph.arithmetic.sequence = encodes ? decoding.inputs : decoding.rows;
  family(full.model.family).append(full, vocab, graph);
  return graph;
}

}  // namespace spillway
