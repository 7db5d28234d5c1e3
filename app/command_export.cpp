#include <fmt/core.h>

#include "app/commands.hpp"
#include "base/standard_streams.hpp"
#include "base/units.hpp"
#include "config/load.hpp"
#include "huggingface/export_model.hpp"
#include "io/h5/checkpoint_group.hpp"
#include "model/model.hpp"
#include "state/run_state.hpp"

namespace spillway {
namespace {

std::optional<ElementType> type_of(std::string const& word) {
  if (word.empty()) return std::nullopt;
  return word == "f32" ? ElementType::f32 : word == "bf16" ? ElementType::bf16 : ElementType::f16;
}

}  // namespace

Status run_export(ExportArguments const& arguments) {
  CheckpointReader checkpoint(arguments.checkpoint);
  auto const state = run_state(checkpoint.run_strings(), arguments.checkpoint);
  auto const config = parse_config(state.config, arguments.checkpoint, {}, elsewhere);
  CheckpointGroup weights(checkpoint, "model");
  auto const exported = export_model(weights, completed(config, state.vocab), arguments.checkpoint,
                                     type_of(arguments.dtype), arguments.output);
  print_result(fmt::format("{}: {} tensors, {}\n", arguments.output, exported.tensors,
                           human_bytes(exported.bytes)));
  return Status::done;
}

}  // namespace spillway
