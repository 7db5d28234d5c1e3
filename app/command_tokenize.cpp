#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "app/commands.hpp"
#include "app/output_kinds.hpp"
#include "app/record_rules.hpp"
#include "app/version_text.hpp"
#include "base/affinity.hpp"
#include "base/work_progress.hpp"
#include "io/texts/byte_source.hpp"
#include "io/texts/input_list.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "io/tokens/text_tokens.hpp"
#include "io/tokens/token_head.hpp"
#include "plan/data/words.hpp"

namespace spillway {
namespace {

// Says what became no document, or "" if nothing was left out.
std::string left_out(TokenizeResult const& result, ListedInputs const& inputs) {
  std::vector<std::string> parts;
  if (result.empty_files > 0) parts.push_back(count(result.empty_files, "empty file"));
  if (result.empty_records > 0) parts.push_back(count(result.empty_records, "empty record"));
  if (inputs.left_out > 0)
    parts.push_back(fmt::format("{} with another ending, such as {},",
                                count(inputs.left_out, "file"), inputs.one_left_out.string()));
  return parts.empty() ? "" : fmt::format(" ({} left out)", fmt::join(parts, ", "));
}

// Returns the size of all files, or 0 if stdin is one of them; what cannot be looked at is told
// when it is read.
std::int64_t size_of(std::vector<std::filesystem::path> const& files) {
  std::int64_t bytes = 0;
  for (auto const& file : files) {
    if (file == kStandardInput) return 0;
    std::error_code error;
    auto const size = std::filesystem::file_size(file, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

std::optional<TextFormat> format_of(std::string const& word) {
  if (word == "text") return TextFormat::text;
  if (word == "jsonl") return TextFormat::jsonl;
  if (word == "json") return TextFormat::json;
  if (word == "parquet") return TextFormat::parquet;
  return {};
}

// A model's own chat template lies in its directory, beside the tokenizer. Bytes have none.
RecordRules rules_of(TokenizeArguments const& arguments, Tokenizer const& tokenizer) {
  RecordRules rules;
  if (arguments.tokenizer != kByteTokenizer)
    rules = record_rules(model_directory_of(arguments.tokenizer), tokenizer);
  rules.text_field = arguments.text_field;
  rules.learns_all = arguments.learn == "all";
  rules.parses_special = arguments.parse_special;
  return rules;
}

// Says what decides tokens beside the inputs and options: the program, and the files beside the
// tokenizer, which have the chat template and the token that ends texts.
std::string identity_of(TokenizeArguments const& arguments) {
  auto text = version_text();
  auto const directory = model_directory_of(arguments.tokenizer);
  std::error_code error;  // what cannot be looked at has been told where it was opened
  for (auto const* name :
       {"chat_template.jinja", "tokenizer_config.json", "special_tokens_map.json"}) {
    auto const file = directory / name;
    if (std::filesystem::exists(file, error))
      text += fmt::format(" {} {} {}", name, std::filesystem::file_size(file, error),
                          std::filesystem::last_write_time(file, error).time_since_epoch().count());
  }
  return text;
}

// Tokens of much text are kept while it is read, so that the same command goes on if it is
// interrupted.
void keep_unfinished(TokenizeArguments const& arguments, Output const& output, std::int64_t bytes,
                     TextTokensWork& work) {
  if (bytes < 2 * work.keep_every_bytes || output.is_written_through()) return;
  work.unfinished = output.path().string() + ".unfinished";
  work.identity = identity_of(arguments);
}

ListedInputs listed(TokenizeArguments const& arguments) {
  auto inputs = list_inputs(arguments.files, arguments.files_from);
  if (inputs.files.empty())
    throw Error(Status::bad_input,
                "tokenize: no file is named; give files, directories, - or --files-from");
  return inputs;
}

}  // namespace

Status run_tokenize(TokenizeArguments const& arguments) {
  auto const inputs = listed(arguments);
  Output const output(arguments.output, {kTokenOutput, inputs.files, arguments.force});
  auto const bytes = size_of(inputs.files);
  WorkProgress progress({"tokenize", "bytes", bytes});
  auto const told = [&](std::int64_t bytes) { progress.add(bytes); };
  auto const tokenizer = arguments.tokenizer == kByteTokenizer
                             ? byte_tokenizer(arguments.separator)
                             : open_tokenizer(arguments.tokenizer);
  TextTokensWork work;
  work.separator = arguments.separator;
  work.threads = std::max<std::size_t>(1, allowed_cores().size());
  work.format = format_of(arguments.format);
  work.rules = rules_of(arguments, *tokenizer);
  keep_unfinished(arguments, output, bytes, work);
  auto const result = tokenize_texts(inputs.files, *tokenizer, output, work, told);
  progress.clear();
  auto const learned =
      result.learned ? fmt::format(", {} of them learned,", *result.learned) : std::string();
  tell_written(output,
               fmt::format("{}: {}{} of {}{}\n", arguments.output, count(result.tokens, "token"),
                           learned, count(result.documents, "document"), left_out(result, inputs)));
  return Status::done;
}

}  // namespace spillway
