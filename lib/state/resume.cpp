#include "state/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "config/difference.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "config/same_model.hpp"
#include "huggingface/adapter_directory.hpp"
#include "huggingface/imported_config.hpp"
#include "huggingface/model_files.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "model/model.hpp"
#include "state/base_weights.hpp"
#include "state/restored_start.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace spillway {
namespace {

Resumption read(CheckpointReader checkpoint, bool whole, BasePlaces places) {
  auto const directory = checkpoint.directory();
  auto reader = std::make_shared<CheckpointReader>(std::move(checkpoint));
  auto state = run_state(reader->run_strings(), directory.string());
  Resumption resumption{directory, std::move(state), whole, std::move(reader)};
  if (resumption.takes_base()) resumption.places = std::move(places);
  return resumption;
}

// Such a directory is as good as the checkpoint that import makes of it.
Resumption read_model_directory(std::filesystem::path const& path) {
  auto directory = std::make_shared<ModelDirectory>(path);
  auto state = imported_state(directory->config());
  return {path, std::move(state), false, nullptr, std::move(directory)};
}

// Adapters of PEFT are beside their base what a checkpoint is beside its own.
Resumption read_adapter_directory(std::filesystem::path const& path, BasePlaces const& places) {
  auto adapters = std::make_shared<AdapterDirectory>(path, places);
  auto resumption = read_model_directory(adapters->base());
  resumption.checkpoint = path;
  resumption.state = imported_state(adapted_config(*adapters, *resumption.directory));
  resumption.adapters = std::move(adapters);
  return resumption;
}

// A start that `never` or `weights` asks for counts once: the run that it began goes on until it
// has all of its steps, whoever gives the same start again.
bool goes_on(Resumption const& latest, RunConfig const& run) {
  if (!run.checkpoint.resume) return true;
  try {
    auto const began = parse_config(latest.state.config, latest.checkpoint.string(), {}, elsewhere);
    return began.run.checkpoint.resume == run.checkpoint.resume && began.run.init == run.init &&
           latest.state.step < run.steps;
  } catch (Error const& error) {  // another version's keys, which this run would not have written
    if (run.checkpoint.resume == Resume::never) return false;
    throw Error(error.status(), std::string(error.what()) + "; another run.dir begins another run");
  }
}

// What `never` does not want need be neither sound nor of this version.
std::optional<Resumption> read_latest(Config const& config) {
  auto const& run = config.run;
  try {
    if (auto latest = open_latest(run.dir))
      return read(std::move(*latest), true, base_places(config));
  } catch (Error const& error) {
    if (run.checkpoint.resume != Resume::never || error.status() == Status::storage) throw;
  }
  return std::nullopt;
}

// The checkpoint of run.dir that the run begins from, if it may and there is one.
std::optional<Resumption> from_run_dir(Config const& config) {
  auto latest = read_latest(config);
  if (!latest) return std::nullopt;
  latest->whole = goes_on(*latest, config.run);
  if (!latest->whole && config.run.checkpoint.resume == Resume::never) return std::nullopt;
  return latest;
}

std::optional<Resumption> choose(Config const& config, std::int64_t vocab) {
  if (auto latest = from_run_dir(config)) return latest;
  if (auto init = find_init(config, vocab)) return init;
  if (config.run.checkpoint.resume == Resume::weights) {
    throw Error(Status::bad_input,
                fmt::format("run.checkpoint.resume: weights: no checkpoint in {}, and run.init "
                            "names none",
                            config.run.dir));
  }
  return std::nullopt;
}

// A run that is copied with its base beside it finds that by this.
std::string from_run(std::string const& base, std::filesystem::path const& run_dir) {
  if (base.empty()) return "";
  auto const run = std::filesystem::absolute(run_dir).lexically_normal();
  return std::filesystem::path(base).lexically_relative(run).string();
}

// The start's tokens have meanings that other files' tokens of the same numbers do not.
void say_other_tokens(Resumption const& resumption, std::string const& tokenizer) {
  auto const& learnt = resumption.state.tokenizer;
  if (tokenizer != kByteTokenizer || learnt == tokenizer) return;
  log_warning(
      "data.train has bytes as tokens, which {} has not learnt (its tokenizer: {}); docs/tokens.md "
      "makes files of its own tokens",
      resumption.checkpoint.string(), learnt);
}

// Refuses a run that goes on but freezes other parameters than its checkpoint (`there`), or keeps
// them in other bits. What was frozen has no moments to go on with.
void require_same_frozen(std::string const& place, ModelConfig const& there,
                         ModelConfig const& here) {
  if (there.freeze != here.freeze)
    throw Error(Status::bad_input,
                fmt::format("{}: model.freeze: is [{}] there, [{}] here; "
                            "run.checkpoint.resume=weights begins a run that trains other "
                            "parameters of it",
                            place, fmt::join(there.freeze, ", "), fmt::join(here.freeze, ", ")));
  if (there.quantize != here.quantize)
    throw Error(Status::bad_input,
                fmt::format("{}: model.quantize: is {} there, {} here; "
                            "run.checkpoint.resume=weights begins a run beside the same base in "
                            "other bits",
                            place, word(there.quantize), word(here.quantize)));
}

// Refuses a run that goes on but has another optimizer than its checkpoint, whose states it needs.
void require_same_optimizer(std::string const& place, OptimConfig const& there,
                            OptimConfig const& here) {
  auto const refuse_key = [&](std::string_view key, auto const& was, auto const& is) {
    throw Error(
        Status::bad_input,
        fmt::format("{}: {}: its optimizer has states of {}, not of {}; go on with that, or "
                    "begin from its weights alone with run.checkpoint.resume=weights",
                    place, key, was, is));
  };
  if (there.name != here.name) refuse_key("optim.name", word(there.name), word(here.name));
  if (here.name == Optimizer::sgd && (there.momentum == 0) != (here.momentum == 0)) {
    auto const words = [](double momentum) { return momentum == 0 ? "no momentum" : "a momentum"; };
    refuse_key("optim.momentum", words(there.momentum), words(here.momentum));
  }
}

// Refuses a run that goes on with another model or optimizer than its checkpoint's.
void require_same_run(Resumption const& latest, Config const& config, std::int64_t vocab) {
  auto const place = latest.checkpoint.string();
  auto const there = stored_config(latest);
  auto in_its_bits = config;
  in_its_bits.model.quantize = there.model.quantize;
  require_same_model(latest.checkpoint, latest.state, in_its_bits, vocab);
  require_same_frozen(place, there.model, config.model);
  require_same_optimizer(place, there.optim, config.optim);
}

// A checkpoint has no frozen weights whose values are lost when they are quantized.
void require_base(Config const& config, std::int64_t vocab,
                  std::optional<Resumption> const& start) {
  if (config.model.quantize == Quantization::none) return;
  if (start && leaves_base(*start, config, vocab)) return;
  throw Error(Status::bad_input,
              "model.quantize: frozen weights must stay where the run finds them, and this run has "
              "drawn them or has them in its own run.dir; give model.import or run.init with "
              "weights that lie elsewhere");
}

}  // namespace

void require_same_model(std::filesystem::path const& checkpoint, RunState const& state,
                        Config const& config, std::int64_t vocab, bool may_add_adapters) {
  auto there = parse_config(state.config, checkpoint.string(), {}, elsewhere), here = config;
  if (may_add_adapters && there.model.lora.rank == 0) there.model.lora = here.model.lora;
  if (may_add_adapters) there.model.quantize = here.model.quantize;
  there.model = completed(there, state.vocab);
  here.model = completed(here, vocab);
  auto const difference = model_difference(there, here);
  if (difference.empty()) return;
  throw Error(Status::bad_input,
              fmt::format("{}: is of another model: {}", checkpoint.string(), difference));
}

BasePlaces base_places(Config const& config, std::string const& given) {
  BasePlaces places{given, {}};
  for (auto const& place : {config.model.import_from, config.run.init})
    if (!place.empty()) places.starts.push_back(place);
  return places;
}

Resumption open_start(std::filesystem::path const& path, BasePlaces places) {
  if (is_adapter_directory(path)) return read_adapter_directory(path, places);
  if (is_model_directory(path)) return read_model_directory(path);
  return read(open_checkpoint(path), false, std::move(places));
}

bool Resumption::takes_base() const {
  return adapters != nullptr || !state.base.path.empty();
}

void require_use_of_base(std::string const& given, std::vector<Resumption const*> const& starts) {
  if (given.empty() || std::ranges::any_of(starts, &Resumption::takes_base)) return;
  auto const user =
      starts.size() > 1 ? "each of the checkpoints" : starts.front()->checkpoint.string();
  throw no_use_of_base(user);
}

void say_other_base(Resumption const& start) {
  if (!start.adapters || !start.adapters->is_beside_start()) return;
  log_warning(
      "{}: its base {} is not there, and {} is taken for it, which the input names: adapters have "
      "no checksums by which that could be proved",
      start.checkpoint.string(), start.adapters->named_base(), start.adapters->base().string());
}

FileFolders Resumption::model_files() const {
  if (reader) return checkpoint / kCarriedFolder;
  if (adapters) return {checkpoint, directory->place()};
  return std::filesystem::path(directory->place());
}

FoundFiles files_of(Resumption const& start) {
  if (start.reader) return read_carried(start.checkpoint, start.reader->carried());
  return {start.directory->carried(start.adapters ? start.checkpoint : ""), {}};
}

RunState imported_state(Config const& config) {
  RunState state;
  state.seed = config.run.seed;
  state.vocab = config.model.vocab;
  state.tokenizer = kOwnTokenizer;
  state.config = to_yaml(config);
  return state;
}

std::optional<Resumption> find_init(Config const& config, std::int64_t vocab) {
  if (config.run.init.empty()) return std::nullopt;
  auto init = open_start(config.run.init, base_places(config));
  require_same_model(init.checkpoint, init.state, config, vocab, true);
  init.imported = init.directory || !init.reader->carried().empty();
  init.is_init = true;
  return init;
}

std::optional<Resumption> find_resumption(Config const& config, std::int64_t vocab) {
  auto const resumption = choose(config, vocab);
  constexpr bool may_add_adapters = true;
  if (resumption && !resumption->is_init && !resumption->whole)
    require_same_model(resumption->checkpoint, resumption->state, config, vocab, may_add_adapters);
  if (resumption && resumption->whole) require_same_run(*resumption, config, vocab);
  require_base(config, vocab, resumption);
  return resumption;
}

void require_own_tokens(Resumption const& resumption, CarriedFiles const& carried,
                        std::string const& data, UsedTokenizer const& tokenizer) {
  auto const place = resumption.checkpoint.string();
  auto const& state = resumption.state;
  require_same_tokenizer(data, tokenizer, place, {state.tokenizer, state.tokenizer_checksum});
  // That bytes are not what the model has learnt is only said.
  auto const own = carried_tokenizers(carried);
  if (own.empty() || tokenizer.name == kByteTokenizer) return;
  auto const is_theirs = [&](CarriedFile const* file) {
    return tokenizer_checksum(file->text) == tokenizer.checksum;
  };
  if (std::ranges::any_of(own, is_theirs)) return;
  auto const& first = *own.front();
  require_same_tokenizer(data, tokenizer, place, {first.name, tokenizer_checksum(first.text)});
}

CarriedFiles carried_by(std::optional<Resumption> const& resumption) {
  if (!resumption) return {};
  if (resumption->reader) warn_of_foreign_files(*resumption->reader);
  auto found = files_of(*resumption);
  for (auto const& why : found.unread)
    log_warning("{}; checkpoints of this run are without it, and so is what export makes of them",
                why.what());
  return std::move(found.files);
}

Config stored_config(Resumption const& resumption) {
  return parse_config(resumption.state.config, resumption.checkpoint.string(), {}, elsewhere);
}

void say_difference(Resumption const& resumption, Arithmetic const& arithmetic) {
  auto const difference = describe_difference(resumption.state.arithmetic, arithmetic);
  if (!difference.empty()) {
    log_warning(
        "another arithmetic than the checkpoint's ({}): the run goes on to summation order, "
        "not to the bit",
        difference);
  }
}

StartedModel start_model(Config const& config, std::int64_t vocab, UsedTokenizer const& tokenizer,
                         Arithmetic const& arithmetic, std::optional<Resumption> const& resumption,
                         ModelState& model, Comm& comm) {
  RunState state;
  std::string weights;
  if (!resumption) {
    model.initialise(config.run.seed);
    weights = model.checksum_of_start(config.run.seed);
  } else {
    auto restored = restore_start(*resumption, config.run, model, comm);
    weights = std::move(restored.weights);
    if (resumption->whole) state = resumption->state;
    state.base = std::move(restored.base);
    state.base.from_run = from_run(state.base.path, config.run.dir);
    if (comm.rank() == 0) say_other_tokens(*resumption, tokenizer.name);
    auto const resume = config.run.checkpoint.resume;
    bool const again = resumption->whole && resume;
    log_info("{} {} of step {}{}", resumption->whole ? "going on from" : "weights from",
             resumption->checkpoint.string(), resumption->state.step,
             again ? fmt::format("; run.checkpoint.resume={} began this run, and counts once",
                                 word(*resume))
                   : "");
  }
  state.seed = config.run.seed;
  state.vocab = vocab;
  state.tokenizer = tokenizer.name;
  state.tokenizer_checksum = tokenizer.checksum;
  state.arithmetic = arithmetic;
  state.config = to_yaml(config);
  return {std::move(state), std::move(weights)};
}

}  // namespace spillway
