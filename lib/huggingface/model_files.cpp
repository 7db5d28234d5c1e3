#include "huggingface/model_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "huggingface/model_file_names.hpp"
#include "io/file/inside.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(fs::path const& path, std::string const& why) {
  throw Error(Status::bad_input, fmt::format("{}: {}", path.string(), why));
}

// Returns whether the bytes look like a model of SentencePiece: a message of protobuf whose first
// field is a complete piece of the vocabulary.
bool is_sentencepiece(std::string_view bytes) {
  constexpr char kPieces = (1 << 3) | 2;
  if (bytes.size() < 2 || bytes[0] != kPieces) return false;
  auto const length = static_cast<unsigned char>(bytes[1]);
  return length >= 0x80 || length <= bytes.size() - 2;
}

void require_sound(fs::path const& path, std::string const& text) {
  if (path.extension() == ".json") {
    if (!nlohmann::json::accept(text)) refuse(path, "is no JSON");
    return;
  }
  auto const name = path.filename().string();
  bool const is_model = name.find(".model") != std::string::npos;  // also tokenizer.model.v3
  if (is_text(text) || (is_model && is_sentencepiece(text))) return;
  refuse(path, is_model ? "is neither a model of SentencePiece nor text" : "is no text");
}

CarriedFile read_checked(fs::path const& path) {
  auto const file = open_inside(path.parent_path(), path.filename().string());
  CarriedFile found{path.filename(), mode_of(file, path),
                    read_input(file, path, kMostCarriedBytes)};
  require_sound(path, found.text);
  return found;
}

bool has(std::span<std::string_view const> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool says_template(fs::path const& folder) {
  if (!is_name_taken(folder / kTokenizerConfig)) return false;
  auto const json =
      nlohmann::json::parse(read_model_file(folder, kTokenizerConfig), nullptr, false);
  auto const found = json.is_object() ? json.value("chat_template", nlohmann::json()) : nullptr;
  return !found.is_null() && found != "";
}

// Returns the file of this name that holds, if any does. A vocabulary has all of its files in one
// folder, and a template in a first folder holds whatever file has it.
std::optional<fs::path> holding(FileFolders const& folders, std::string_view name) {
  auto const path = has(kDescriptionNames, name) ? folders.last() / name : folders.file(name);
  if (!is_name_taken(path)) return std::nullopt;
  if (path.parent_path() == folders.first()) return path;
  if (has(kVocabularyNames, name) && !tokenizer_file(folders.first()).empty()) return std::nullopt;
  if (has(kTemplateNames, name) && says_template(folders.first())) return std::nullopt;
  return path;
}

}  // namespace

bool is_model_file(std::string const& name) {
  return std::ranges::any_of(kModelFileNames, [&](auto const names) { return has(names, name); });
}

CarriedFiles read_model_files(FileFolders const& folders) {
  CarriedFiles files;
  for (auto const names : kModelFileNames) {
    for (auto const name : names) {
      auto const path = holding(folders, name);
      if (!path) continue;
      files.push_back(read_checked(*path));
      if (size_bytes(files) > kMostCarriedBytesInAll)
        refuse(folders.first(),
               fmt::format("the files beside its weights have more than {} bytes in all",
                           kMostCarriedBytesInAll));
    }
  }
  return files;
}

CarriedFiles files_of_adapters(CarriedFiles const& files, fs::path const& folder) {
  CarriedFiles needed;
  for (auto const& file : files) {
    if (!is_model_file(file.name) || has(kDescriptionNames, file.name)) continue;
    if (is_name_taken(folder / file.name) && read_model_file(folder, file.name) == file.text)
      continue;
    needed.push_back(file);
  }
  return needed;
}

std::vector<CarriedFile const*> carried_tokenizers(CarriedFiles const& files) {
  std::vector<CarriedFile const*> tokenizers;
  for (auto const* const name : tokenizer_file_names()) {
    auto const found = std::ranges::find(files, name, &CarriedFile::name);
    if (found != files.end()) tokenizers.push_back(&*found);
  }
  return tokenizers;
}

std::string read_model_file(fs::path const& directory, std::string const& name) {
  return read_inside(directory, name, kMostCarriedBytes);
}

}  // namespace spillway
