#include <fmt/core.h>

#include "app/commands.hpp"
#include "base/standard_streams.hpp"
#include "base/units.hpp"
#include "config/load.hpp"
#include "huggingface/export_model.hpp"
#include "huggingface/imported_config.hpp"
#include "io/h5/checkpoint_group.hpp"
#include "model/model.hpp"
#include "state/run_state.hpp"
#include "train/recipe.hpp"

namespace spillway {
namespace {

std::optional<ElementType> type_of(std::string const& word) {
  if (word.empty()) return std::nullopt;
  return word == "f32" ? ElementType::f32 : word == "bf16" ? ElementType::bf16 : ElementType::f16;
}

// Ids that the run placed itself are given. An imported model has a configuration of its own.
void give_ids(Config& config, RunState const& state) {
  if (state.tokenizer == kOwnTokenizer) return;
  auto const recipe = recipe_of(config, objective_of(config), state.vocab, state.tokenizer);
  if (recipe.ids.eos >= 0) config.data.eos_id = recipe.ids.eos;
  if (recipe.objective == Objective::spans) config.data.pad_id = recipe.ids.pad;
}

}  // namespace

Status run_export(ExportArguments const& arguments) {
  CheckpointReader checkpoint(arguments.checkpoint);
  auto const state = run_state(checkpoint.run_strings(), arguments.checkpoint);
  auto config = parse_config(state.config, arguments.checkpoint, {}, elsewhere);
  give_ids(config, state);
  config.model = completed(config, state.vocab);
  CheckpointGroup weights(checkpoint, "model");
  auto const exported = export_model(weights, config, arguments.checkpoint,
                                     type_of(arguments.dtype), arguments.output);
  print_result(fmt::format("{}: {} tensors, {}\n", arguments.output, exported.tensors,
                           human_bytes(exported.bytes)));
  return Status::done;
}

}  // namespace spillway
