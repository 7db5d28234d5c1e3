#include "tokenizer/open_tokenizer.hpp"

#include <fmt/core.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/printable.hpp"
#include "tokenizer/json_node.hpp"
#include "tokenizer/pipeline.hpp"
#include "tokenizer/sentence_piece.hpp"
#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostBytes = 256 << 20;
constexpr std::array<char const*, 6> kFiles = {kTokenizerFile,        "tokenizer.model",
                                               "spiece.model",        "spm.model",
                                               "sentencepiece.model", "sentencepiece.bpe.model"};

bool is_there(fs::path const& path) {
  std::error_code ignored;  // what cannot be looked at is told when it is read
  return fs::exists(path, ignored);
}

nlohmann::json parsed(fs::path const& path, std::string const& text) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object())
    throw Error(Status::bad_input, path.string() + ": is no JSON object, as tokenizers have");
  return json;
}

// A token is written as its text, or as an object with its content.
std::string token_text(nlohmann::json const& file, char const* key) {
  auto const found = file.find(key);
  if (found == file.end()) return "";
  auto const content = found->is_object() ? found->value("content", nlohmann::json()) : *found;
  return content.is_string() ? content.get<std::string>() : "";
}

// Returns the token that ends texts, as files beside the tokenizer say: BERT's [SEP] where there is
// no other.
std::string end_token(FileFolders const& folders) {
  for (auto const* const name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    auto const path = folders.file(name);
    if (!is_there(path)) continue;
    auto const file = parsed(path, read_input(path, kMostBytes));
    for (auto const* const key : {"eos_token", "sep_token"})
      if (auto token = token_text(file, key); !token.empty()) return token;
  }
  return "";
}

std::optional<std::int32_t> id_of(std::string const& token, Stages const& stages) {
  for (auto const& added : stages.added.tokens())
    if (added.content == token) return added.id;
  return stages.model->vocabulary().id_of(token);
}

std::int64_t vocab_of(Stages const& stages) {
  auto vocab = stages.model->vocabulary().end_id();
  for (auto const& added : stages.added.tokens())
    vocab = std::max(vocab, std::int64_t{added.id} + 1);
  return vocab;
}

std::unique_ptr<Tokenizer const> open_json(fs::path const& path, std::string const& text,
                                           FileFolders const& folders, TokenizerFacts facts) {
  auto const json = parsed(path, text);
  auto stages = read_stages({json, path.string()});
  facts.vocab = vocab_of(stages);
  facts.before = stages.around.before;
  facts.after = stages.around.after;
  auto const end = end_token(folders);
  if (!end.empty()) facts.end = id_of(end, stages);
  return std::make_unique<Pipeline const>(std::move(stages), std::move(facts));
}

// Returns a name that fits into the head of a token file and on a line.
std::string as_name(std::string name) {
  constexpr std::size_t most_bytes = 200;
  if (name.size() > most_bytes)
    name.resize(whole_characters_bytes(std::string_view(name).substr(0, most_bytes)));
  for (auto& c : name)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '_';
  return as_utf8(name);
}

// A tokenizer is called after its directory, since most files have the same name.
std::string name_of(fs::path const& file) {
  auto const whole = fs::absolute(file).lexically_normal();
  auto const name =
      file.filename() == kTokenizerFile ? whole.parent_path().filename() : whole.filename();
  return name.empty() ? kTokenizerFile : as_name(name.string());
}

}  // namespace

std::span<char const* const> tokenizer_file_names() {
  return kFiles;
}

fs::path tokenizer_file(fs::path const& directory) {
  for (auto const* const name : kFiles)
    if (is_there(directory / name)) return directory / name;
  return {};
}

std::string tokenizer_checksum(std::string_view bytes) {
  return checksum_text(checksum(std::as_bytes(std::span(bytes))));
}

std::unique_ptr<Tokenizer const> open_tokenizer(fs::path const& path) {
  std::error_code ignored;  // what cannot be looked at is told when it is read
  auto const file = fs::is_directory(path, ignored) ? tokenizer_file(path) : path;
  if (file.empty())
    throw Error(Status::bad_input,
                fmt::format("{}: has neither {} nor a model of SentencePiece (tokenizer.model, "
                            "spiece.model, ..)",
                            path.string(), kTokenizerFile));
  return open_tokenizer(file, file.parent_path());
}

std::unique_ptr<Tokenizer const> open_tokenizer(fs::path const& file, FileFolders const& folders) {
  auto const bytes = read_input(file, kMostBytes);
  TokenizerFacts facts;
  facts.name = name_of(file);
  facts.checksum = tokenizer_checksum(bytes);
  if (file.extension() == ".model") return open_sentence_piece(file, bytes, std::move(facts));
  return open_json(file, bytes, folders, std::move(facts));
}

}  // namespace spillway
