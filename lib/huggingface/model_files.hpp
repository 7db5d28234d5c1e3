// Model files are the small files beside a model's weights: its configuration and its tokenizer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_folders.hpp"
#include "io/h5/carried_files.hpp"

namespace spillway {

// Returns whether import takes a file of this name along, so that export puts it beside the weights
// again. No file with weights or code is taken.
bool is_model_file(std::string const& name);

// Reads the model files of a directory, which may be a stranger's. Each is opened once, by
// open_inside, and looked at: a .json must be JSON, a .model one of SentencePiece or text, all
// others text. Of two folders the last describes the model, and the first may have a tokenizer and
// a chat template instead of the last one's. Throws Error(bad_input), naming the file, if it is
// something else, cannot be read, or is larger than the files that a checkpoint carries.
CarriedFiles read_model_files(FileFolders const& folders);

// Returns those of the files that adapters need beside a model in `folder`: all but what describes
// the model, unless the folder has them as they are.
CarriedFiles files_of_adapters(CarriedFiles const& files, std::filesystem::path const& folder);

// Returns the files from which a tokenizer can be read. The first of them holds.
std::vector<CarriedFile const*> carried_tokenizers(CarriedFiles const& files);

// Reads one model file without looking at it. Throws Error(bad_input), naming it, if it cannot be
// read or is too large.
std::string read_model_file(std::filesystem::path const& directory, std::string const& name);

}  // namespace spillway
