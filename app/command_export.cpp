#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/commands.hpp"
#include "app/output_directory.hpp"
#include "base/count.hpp"
#include "base/log.hpp"
#include "base/spelling.hpp"
#include "base/standard_streams.hpp"
#include "base/units.hpp"
#include "config/load.hpp"
#include "huggingface/export_adapter.hpp"
#include "huggingface/export_model.hpp"
#include "huggingface/imported_config.hpp"
#include "huggingface/merged_source.hpp"
#include "huggingface/model_directory.hpp"
#include "huggingface/model_files.hpp"
#include "io/file/output.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_masters.hpp"
#include "io/h5/earlier_checkpoints.hpp"
#include "model/model.hpp"
#include "samples/recipe.hpp"
#include "state/base_weights.hpp"
#include "state/checkpoints.hpp"
#include "state/run_state.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// Sets data.eos_id and data.pad_id to the ids that the run chose itself. Does nothing if the model
// came with its own tokenizer, because `config` then has its ids.
void give_ids(Config& config, RunState const& state) {
  if (state.tokenizer == kOwnTokenizer) return;
  auto const recipe = recipe_of(config, objective_of(config), state.vocab, state.tokenizer);
  if (recipe.ids.eos >= 0) config.data.eos_id = recipe.ids.eos;
  if (recipe.objective == Objective::spans) config.data.pad_id = recipe.ids.pad;
}

// Returns the files that the checkpoint carries. Throws Error if one of them is damaged or cannot
// be read, since an export needs all of them.
CarriedFiles carried_by(CheckpointReader const& checkpoint) {
  auto found = read_carried(checkpoint.directory(), checkpoint.carried());
  if (found.unread.empty()) return std::move(found.files);
  auto const& why = found.unread.front();
  if (why.status() != Status::damaged) throw Error(why);
  throw Error(
      Status::damaged,
      fmt::format("{}: put it back as it was imported; the weights are unharmed", why.what()));
}

// Returns where the base of a checkpoint with adapters is, or was if it is not found.
std::string base_of_adapters(ExportArguments const& arguments, RunState const& state,
                             CheckpointReader const& checkpoint) {
  if (state.base.path.empty())
    throw Error(Status::bad_input,
                fmt::format("{}: its run began with no base, beside which adapters could be "
                            "loaded; give --merged",
                            checkpoint.directory().string()));
  try {
    auto base = open_base(checkpoint, {arguments.base, {}})->place();
    if (!is_model_directory(base))
      log_warning(
          "the base of these adapters is the checkpoint {}, which transformers does not load: "
          "write a directory that it does to base_model_name_or_path of adapter_config.json "
          "(`spillway export` makes one of the checkpoint), or give --merged",
          base);
    return base;
  } catch (Error const& error) {
    if (!arguments.base.empty() || error.status() != Status::bad_input) throw;
    log_warning("{}; adapter_config.json has the place as it was", error.what());
    return state.base.path;
  }
}

// Of a model with adapters the default is to write these alone, for which they need a base.
ExportedModel written(ExportArguments const& arguments, Config config, RunState const& state,
                      CheckpointReader& checkpoint) {
  config.model.quantize = Quantization::none;  // what is exported is the base as it lies there
  auto const type = parse_word<ElementType>(arguments.dtype);
  auto const may_replace = replaceable(arguments.force, is_model_alone);
  auto const& lora = config.model.lora;
  auto const carried = carried_by(checkpoint);
  if (arguments.merged && lora.rank == 0)
    throw Error(Status::bad_input, fmt::format("--merged: {} has no adapters; leave it out",
                                               checkpoint.directory().string()));
  if (lora.rank > 0 && !arguments.merged) {
    auto const base = base_of_adapters(arguments, state, checkpoint);
    auto const beside = is_model_directory(base) ? fs::path(base) : fs::path(base) / kCarriedFolder;
    CheckpointMasters weights(checkpoint);
    return export_adapter(weights, config.model, base, type, arguments.output, may_replace,
                          files_of_adapters(carried, beside));
  }
  auto weights = checkpoint_weights(checkpoint, {arguments.base, {}});
  if (lora.rank == 0)
    return export_model(weights, config, carried, type, arguments.output, may_replace);
  MergedSource merged(weights, config.model);
  config.model.lora = {};
  return export_model(merged, config, carried, type, arguments.output, may_replace);
}

}  // namespace

Status run_export(ExportArguments const& arguments) {
  auto checkpoint = open_checkpoint(arguments.checkpoint);
  auto const place = checkpoint.directory().string();
  require_apart(arguments.output, place);
  auto const state = run_state(checkpoint.run_strings(), place);
  auto config = parse_config(state.config, place, {}, elsewhere);
  give_ids(config, state);
  config.model = completed(config, state.vocab);
  warn_of_foreign_files(checkpoint);
  auto const exported = naming_older(checkpoint.directory(),
                                     [&] { return written(arguments, config, state, checkpoint); });
  if (exported.become_zero > 0)
    log_warning("{}: {} became 0, for which {} has no smaller ones", arguments.output,
                count(exported.become_zero, "value"),
                arguments.dtype.empty() ? "their type" : arguments.dtype);
  print_result(fmt::format("{}: {}, {}\n", arguments.output, count(exported.tensors, "tensor"),
                           human_bytes(exported.bytes)));
  return Status::done;
}

}  // namespace spillway
