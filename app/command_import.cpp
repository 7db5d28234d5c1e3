#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "app/commands.hpp"
#include "app/output_directory.hpp"
#include "base/count.hpp"
#include "base/standard_streams.hpp"
#include "base/units.hpp"
#include "base/work_progress.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "huggingface/model_directory.hpp"
#include "huggingface/special_ids.hpp"
#include "io/file/output.hpp"
#include "io/file/path_names.hpp"
#include "io/h5/checkpoint_names.hpp"
#include "io/h5/checkpoint_sink.hpp"
#include "io/tensors/copy_tensors.hpp"
#include "io/tensors/finite.hpp"
#include "state/resume.hpp"

namespace spillway {
namespace {

void require_step_of_name(std::string const& checkpoint) {
  if (step_of(checkpoint).value_or(0) == 0) return;
  throw Error(Status::bad_input,
              fmt::format("{}: what is imported is of step 0: choose a name without another step",
                          checkpoint));
}

// Returns a YAML comment if `generate` does not end texts at `data.eos_id` alone, because that key
// has room for only one token.
std::string ends_comment(ModelDirectory const& model, DataConfig const& data) {
  auto const ends = ends_of_texts(model.place(), model.description(), data);
  if (ends.empty() && data.eos_id)
    return "# generate ends at none: generation_config.json has none\n";
  if (ends.empty() || (data.eos_id && ends == std::vector{*data.eos_id})) return "";
  return fmt::format("# generate ends at each of these tokens: {}\n", fmt::join(ends, ", "));
}

// Returns an input file that trains the imported model on. Its rates are small, since what trained
// weights know is soon lost, and its steps are few.
std::string input_file(Config config, ImportArguments const& arguments) {
  constexpr std::array<std::string_view, 7> more = {"data.train",   "data.sequence", "optim.lr",
                                                    "optim.min_lr", "optim.warmup",  "run.init",
                                                    "run.steps"};
  constexpr std::int64_t usual_sequence = 1024;
  auto const whole = std::filesystem::absolute(arguments.directory).lexically_normal();
  auto const name = std::filesystem::path(without_slash(whole.string())).filename().string();
  config.data.train = {fmt::format("tokens/{}.h5", name)};
  config.data.sequence = std::min(config.data.sequence, usual_sequence);
  config.optim.lr = 2e-5;
  config.optim.min_lr = 2e-6;
  config.optim.warmup = 50;
  config.run.init = arguments.output;
  config.run.steps = 1000;
  return "# Trains the model on; `spillway tokenize --tokenizer` makes the file of data.train.\n" +
         model_yaml_and(config, more);
}

}  // namespace

Status run_import(ImportArguments const& arguments) {
  require_step_of_name(arguments.output);
  ModelDirectory model(arguments.directory);
  auto const config = model.config();
  auto const state = imported_state(config);
  // parse_config throws if the configuration could not be read from the checkpoint later.
  parse_config(state.config, arguments.directory, {}, elsewhere);

  auto const carried = model.carried();  // `carried` may throw, so it comes before the weights

  require_apart(arguments.output, arguments.directory);
  CheckpointSink checkpoint(arguments.output, as_floats(model.tensors()), to_texts(state),
                            replaceable(arguments.force, is_checkpoint_alone));
  WorkProgress progress({"import", "bytes", size_bytes(checkpoint.tensors())});
  copy_tensors(model, checkpoint, [&](TensorEntry const& tensor, ValueCounts const& counts) {
    require_finite(model.place(), tensor.name, element_count(tensor), counts);
    progress.add(element_count(tensor) * size_bytes(tensor.type));
  });
  checkpoint.carry(carried);
  progress.clear();
  // The input file is printed before `finish`, so that a failure to print leaves no checkpoint.
  print_result(input_file(config, arguments) + ends_comment(model, config.data));
  checkpoint.finish();

  say(fmt::format("{}: {}, {}, of {} ({})", arguments.output,
                  count(std::ssize(model.tensors()), "tensor"),
                  human_bytes(size_bytes(model.tensors())), arguments.directory,
                  class_name(model.description().architecture)));
  return Status::done;
}

}  // namespace spillway
