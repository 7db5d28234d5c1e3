// A run starts with new weights, with another run's weights, or from its own last checkpoint.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_folders.hpp"
#include "comm/comm.hpp"
#include "config/config.hpp"
#include "huggingface/adapter_directory.hpp"
#include "huggingface/model_directory.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/tokens/used_tokenizer.hpp"
#include "state/base_weights.hpp"
#include "state/model_state.hpp"
#include "state/run_state.hpp"

namespace spillway {

struct Resumption {
  std::filesystem::path checkpoint;  // or a directory of Hugging Face
  RunState state;
  bool whole = true;                            // if false, the run takes only the weights
  std::shared_ptr<CheckpointReader> reader;     // reads the tensors of the checkpoint
  std::shared_ptr<ModelDirectory> directory{};  // of Hugging Face, instead of the reader
  // Whether the run begins with weights of run.init that are of a directory of Hugging Face: such a
  // directory, or a checkpoint that still carries its files.
  bool imported = false;
  std::shared_ptr<AdapterDirectory> adapters{};  // of PEFT, beside `directory`, their base
  bool is_init = false;  // whether it is what run.init names, whose weights others leave alone
  BasePlaces places{};   // where its base may lie, if it is a checkpoint that has one

  // Returns whether it leaves weights in a base.
  bool takes_base() const;
  // Returns where the files lie that describe a model of Hugging Face, which are in the last
  // folder, and its tokenizer. Adapters of PEFT may have a tokenizer and a chat template of their
  // own.
  FileFolders model_files() const;
};

// Returns where bases may lie by what an input says, and by what --base names.
BasePlaces base_places(Config const& config, std::string const& given = "");

// Opens weights: a checkpoint, a run directory, which stands for its newest one, a model's
// directory of Hugging Face, or adapters of PEFT, whose base is where their adapter_config.json
// says or at one of the places. Throws Error.
Resumption open_start(std::filesystem::path const& path, BasePlaces places = {});

// Throws Error(bad_input) if --base says where a base is, and none of the starts has one.
void require_use_of_base(std::string const& given, std::vector<Resumption const*> const& starts);
// Warns if adapters of PEFT are taken beside another directory than the one that they name, because
// that is not there. One rank calls this.
void say_other_base(Resumption const& start);

// Returns the files that describe the model, or nothing for one that was made here.
FoundFiles files_of(Resumption const& start);

// Throws Error(bad_input) if `config` describes another model than the checkpoint's, even if the
// tensors of both models have equal shapes. If `may_add_adapters`, the checkpoint need not have
// adapters, and may have quantized otherwise what is frozen.
void require_same_model(std::filesystem::path const& checkpoint, RunState const& state,
                        Config const& config, std::int64_t vocab, bool may_add_adapters = false);

// Returns the state of a run that has not begun and has an imported model; `config` is what
// ModelDirectory::config says.
RunState imported_state(Config const& config);

// Finds what run.checkpoint.resume and run.init ask for. What they begin, if it is not `auto`, goes
// on when they are given again, until it has all of its steps. Returns nothing if the run
// starts with new weights. Throws Error(damaged) if the latest checkpoint is damaged, and
// Error(bad_input) if the checkpoint is of another model, if there are no weights to start from, or
// if model.quantize would leave no other place for the weights that it quantizes.
std::optional<Resumption> find_resumption(Config const& config, std::int64_t vocab);

// Finds what run.init names, or nothing if it names nothing, whatever is in run.dir. Throws the
// same.
std::optional<Resumption> find_init(Config const& config, std::int64_t vocab);

// What all checkpoints of the run are to carry (io/h5/carried_files.hpp): what its start does. Of a
// checkpoint, files that are damaged or foreign are named in a warning and passed over. One
// rank calls this. Throws Error(bad_input) for a directory of Hugging Face, as read_model_files.
CarriedFiles carried_by(std::optional<Resumption> const& resumption);

// Throws Error(bad_input) if the tokens of the run, which `data` names, are known to be of another
// tokenizer than those that the start's weights have learnt: by what its checkpoint says, or by the
// tokenizer among its carried files. Bytes are allowed for an imported model.
void require_own_tokens(Resumption const& resumption, CarriedFiles const& carried,
                        std::string const& data, UsedTokenizer const& tokenizer);

// Returns the configuration that the checkpoint was made with.
Config stored_config(Resumption const& resumption);

// Warns if the run cannot give the same bits as a run that was never interrupted, and says why.
// `arithmetic` describes the continued run.
void say_difference(Resumption const& resumption, Arithmetic const& arithmetic);

struct StartedModel {
  RunState state;       // at which the run begins
  std::string weights;  // what the weights were made of, as a text that names their values
};

// Initialises the model or reads it from what was found. `vocab` and `tokenizer` describe the run's
// data. Throws Error.
StartedModel start_model(Config const& config, std::int64_t vocab, UsedTokenizer const& tokenizer,
                         Arithmetic const& arithmetic, std::optional<Resumption> const& resumption,
                         ModelState& model, Comm& comm);

}  // namespace spillway
