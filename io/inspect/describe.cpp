#include "io/inspect/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/count.hpp"
#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "io/file/file.hpp"
#include "io/file/path_names.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/h5/h5_file.hpp"
#include "io/safetensors/reader.hpp"
#include "io/tokens/token_file.hpp"

namespace spillway {
namespace {

// Returns the first line of a text, cut off after 60 characters. `h5dump -g /run` shows all of it.
std::string shortened(std::string const& text) {
  constexpr std::size_t limit = 60;
  auto const line = text.substr(0, text.find('\n'));
  return line.size() == text.size() && line.size() <= limit ? text : line.substr(0, limit) + " ...";
}

std::string describe_checkpoint(std::filesystem::path const& directory, AboutConfig const& about) {
  CheckpointReader const reader(directory);
  auto text = fmt::format("checkpoint {}\n", directory.string());
  text += fmt::format("  size        {}\n", human_bytes(reader.size_bytes()));
  auto const config = reader.run_strings().find("config");
  std::map<std::string, std::string> told;
  if (about && config != reader.run_strings().end()) told = about(config->second);
  for (auto const& [name, words] : told) text += wrapped_row(fmt::format("  {}", name), words, 14);
  for (auto const& [key, value] : reader.run_strings())
    if (!told.contains(key))
      text += fmt::format("  {:<11} {}\n", key, key == "base" ? value : shortened(value));
  for (auto const& [name, sum] : reader.carried())
    text += fmt::format("  carries     {}/{}\n", kCarriedFolder, name);
  for (auto const& why : read_carried(directory, reader.carried()).unread) {
    auto const* const word = why.status() == Status::damaged ? "damaged" : "unread";
    text += fmt::format("  {:<11} {}\n", word, why.what());
  }
  for (auto const& name : reader.foreign_files()) text += fmt::format("  stranger    {}\n", name);
  std::map<std::string, std::int64_t> elements;
  for (auto const& tensor : reader.tensors()) {
    elements[tensor.group] += element_count(tensor.shape);
  }
  for (auto const& [group, values] : elements)
    text += fmt::format("  {:<11} {}\n", group, count(values, "value"));
  for (auto const& tensor : reader.tensors()) {
    if (tensor.group != kWeightsGroup) continue;
    text += fmt::format("    {} {} [{}]\n", tensor.name, name(tensor.type),
                        fmt::join(tensor.shape, ", "));
  }
  return text;
}

std::string describe_weights(std::filesystem::path const& path) {
  SafetensorsReader const reader(path);
  std::int64_t elements = 0;
  std::string lines;
  for (auto const& tensor : reader.tensors()) {
    elements += element_count(tensor);
    lines += fmt::format("    {} {} [{}]\n", tensor.name, name(tensor.type),
                         fmt::join(tensor.shape, ", "));
  }
  return fmt::format("weights {}\n  size        {} in {}\n  values      {} in {}\n", path.string(),
                     human_bytes(reader.size_bytes()), count(reader.files(), "file"), elements,
                     count(std::ssize(reader.tensors()), "tensor")) +
         lines;
}

// Returns the first tokens of a file: as text if tokens are bytes, otherwise as numbers.
std::string beginning(TokenFile const& file) {
  std::vector<std::int32_t> tokens(
      static_cast<std::size_t>(std::min<std::int64_t>(file.count(), 60)));
  file.read(0, tokens);
  if (file.layout().tokenizer != "byte") return fmt::format("{}", fmt::join(tokens, " "));
  std::string text;
  for (auto const token : tokens) {
    text += token >= ' ' && token < 127 ? static_cast<char>(token) : '.';
  }
  return text;
}

std::string describe_tokens(std::filesystem::path const& path) {
  TokenFile const file(path);
  auto const& layout = file.layout();
  auto text = fmt::format("token file {} ({})\n", path.string(), layout.kind);
  text += fmt::format("  tokens      {} of {} bits\n", layout.count, 8 * layout.token_bytes);
  auto const checksum =
      layout.tokenizer_checksum.empty() ? std::string() : ", checksum " + layout.tokenizer_checksum;
  text += fmt::format("  vocabulary  {} ({}{})\n", layout.vocab, layout.tokenizer, checksum);
  if (layout.documents > 0) text += fmt::format("  documents   {}\n", layout.documents);
  if (layout.learned > 0)
    text +=
        fmt::format("  learned     {}; the others are only seen\n", count(layout.learned, "token"));
  text += fmt::format("  begins      {}\n", beginning(file));
  return text;
}

}  // namespace

std::string describe(std::filesystem::path const& path, AboutConfig const& about) {
  if (is_safetensors(path)) return describe_weights(path);
  std::error_code ignored;  // an error shows when `path` is read as a file
  if (std::filesystem::is_directory(path, ignored))
    return describe_checkpoint(checkpoint_at(path), about);
  if (path.filename() == manifest_name) return describe_checkpoint(directory_of(path), about);
  return describe_tokens(path);
}

}  // namespace spillway
