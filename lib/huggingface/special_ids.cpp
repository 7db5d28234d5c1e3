#include "huggingface/special_ids.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>

#include "huggingface/json_object.hpp"
#include "huggingface/model_file_names.hpp"
#include "huggingface/model_files.hpp"
#include "huggingface/model_keys.hpp"
#include "io/file/inside.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;
using Id = std::optional<std::int64_t>;

// Returns an id, or the first one of a list: transformers ends a text at each token of a list.
Id as_id(Json const& value) {
  auto const& one = value.is_array() && !value.empty() ? value.front() : value;
  return one.is_number_integer() ? Id(one.get<std::int64_t>()) : std::nullopt;
}

std::string read_if_there(fs::path const& path) {
  if (!is_name_taken(path)) return "";
  return read_model_file(path.parent_path(), path.filename().string());
}

// The vocabulary, which is most of tokenizer.json, is skipped.
Json object_if_there(fs::path const& path) {
  auto const text = read_if_there(path);
  return text.empty() ? Json() : parse_object(text, path.string(), "model");
}

Id id_in_tokenizer(fs::path const& directory, std::string const& token) {
  auto const added = value_of(object_if_there(directory / "tokenizer.json"), "added_tokens");
  for (auto const& one : added)
    if (value_of(one, "content") == token) return as_id(value_of(one, "id"));
  return std::nullopt;
}

Id id_in_decoder(fs::path const& directory, std::string const& token) {
  auto const file = object_if_there(directory / "tokenizer_config.json");
  auto const decoder = value_of(file, "added_tokens_decoder");
  constexpr bool may_throw = false;
  for (auto const& [id, one] : decoder.items())
    if (value_of(one, "content") == token) return as_id(Json::parse(id, nullptr, may_throw));
  return std::nullopt;
}

Id id_in_words(fs::path const& directory, std::string const& token) {
  std::istringstream lines(read_if_there(directory / "vocab.txt"));
  std::int64_t id = 0;
  for (std::string line; std::getline(lines, line); ++id)
    if (line == token || line == token + '\r') return id;
  return std::nullopt;
}

struct Neutral {
  char const* key;
  int value;  // the value with which the key changes nothing
};
constexpr Neutral kNeutrals[] = {{"repetition_penalty", 1},
                                 {"encoder_repetition_penalty", 1},
                                 {"num_beams", 1},
                                 {"no_repeat_ngram_size", 0},
                                 {"encoder_no_repeat_ngram_size", 0},
                                 {"min_length", 0},
                                 {"min_new_tokens", 0},
                                 {"guidance_scale", 1},
                                 {"bad_words_ids", 0},
                                 {"sequence_bias", 0},
                                 {"suppress_tokens", 0},
                                 {"begin_suppress_tokens", 0},
                                 {"forced_bos_token_id", -1},
                                 {"forced_eos_token_id", -1},
                                 {"exponential_decay_length_penalty", 0}};

bool changes_nothing(Json const& value, int neutral) {
  return value.is_null() || value == neutral || (value.is_structured() && value.empty());
}

// An id outside the vocabulary counts as none: some files have -1.
bool is_in(Id id, std::int64_t vocab) {
  return id && *id >= 0 && *id < vocab;
}

void set(std::optional<std::int64_t>& to, Id id, std::int64_t vocab) {
  if (is_in(id, vocab)) to = id;
}

void set_token(std::optional<std::int64_t>& to, fs::path const& directory, char const* token,
               std::int64_t vocab) {
  // If several files have the token, the last one wins.
  for (auto const find : {id_in_words, id_in_decoder, id_in_tokenizer})
    set(to, find(directory, token), vocab);
}

}  // namespace

void read_special_ids(fs::path const& directory, ModelDescription const& description,
                      DataConfig& data) {
  auto const path = directory / kConfigFile;
  auto const file =
      parse_object(read_inside(directory, kConfigFile, kMostConfigBytes), path.string());
  auto const vocab = description.model.vocab;
  bool const is_t5 = description.architecture == Architecture::t5;
  // The defaults for T5 are those of transformers for a file without these keys.
  set(data.eos_id, as_id(file.value("eos_token_id", is_t5 ? Json(1) : Json())), vocab);
  if (is_t5) {
    set(data.pad_id, as_id(file.value("pad_token_id", Json(0))), vocab);
    set_token(data.sentinel_id, directory, "<extra_id_0>", vocab);
  }
  if (description.architecture == Architecture::bert)
    set_token(data.mask_id, directory, "[MASK]", vocab);
}

GenerationIds read_generation_ids(fs::path const& directory, std::int64_t vocab) {
  GenerationIds ids;
  auto file = object_if_there(directory / kGenerationFile);
  for (auto const& [key, neutral] : kNeutrals)
    if (!changes_nothing(value_of(file, key), neutral)) ids.not_followed.emplace_back(key);
  if (file.is_null()) file = object_if_there(directory / kConfigFile);
  auto const ends = value_of(file, "eos_token_id");
  for (auto const& one : ends.is_array() ? ends : Json::array({ends}))
    if (auto const id = as_id(one); is_in(id, vocab)) ids.ends.push_back(*id);
  set(ids.start, as_id(value_of(file, "decoder_start_token_id")), vocab);
  return ids;
}

std::vector<std::int64_t> ends_of_texts(fs::path const& directory,
                                        ModelDescription const& description,
                                        DataConfig const& data) {
  DataConfig imported;
  read_special_ids(directory, description, imported);
  auto ends = read_generation_ids(directory, description.model.vocab).ends;
  std::error_code ignored;  // unused, since the file has just been read
  bool const is_told = fs::exists(directory / kGenerationFile, ignored);
  if (data.eos_id && (!is_told || data.eos_id != imported.eos_id)) ends.push_back(*data.eos_id);
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

}  // namespace spillway
