#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "app/commands.hpp"
#include "app/output_kinds.hpp"
#include "base/affinity.hpp"
#include "base/work_progress.hpp"
#include "io/tokens/text_tokens.hpp"
#include "io/tokens/token_head.hpp"
#include "plan/data/words.hpp"

namespace spillway {
namespace {

std::string left_out(std::int64_t empty_files) {
  if (empty_files == 0) return "";
  return fmt::format(" ({} left out)", count(empty_files, "empty file"));
}

// Returns the size of all files; what cannot be looked at is told when it is read.
std::int64_t size_of(std::vector<std::filesystem::path> const& files) {
  std::int64_t bytes = 0;
  for (auto const& file : files) {
    std::error_code error;
    auto const size = std::filesystem::file_size(file, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

TokenizeResult by_tokenizer(TokenizeArguments const& arguments,
                            std::vector<std::filesystem::path> const& files, Output const& output,
                            std::function<void(std::int64_t)> const& told) {
  auto const tokenizer = open_tokenizer(arguments.tokenizer);
  TextTokensWork work;
  work.separator = arguments.separator;
  work.threads = std::max<std::size_t>(1, allowed_cores().size());
  return tokenize_texts(files, *tokenizer, output, work, told);
}

}  // namespace

Status run_tokenize(TokenizeArguments const& arguments) {
  std::vector<std::filesystem::path> const files(arguments.files.begin(), arguments.files.end());
  Output const output(arguments.output, {kTokenOutput, files, arguments.force});
  WorkProgress progress({"tokenize", "bytes", size_of(files)});
  auto const told = [&](std::int64_t bytes) { progress.add(bytes); };
  auto const result = arguments.tokenizer == kByteTokenizer
                          ? tokenize_bytes(files, output, arguments.separator, told)
                          : by_tokenizer(arguments, files, output, told);
  progress.clear();
  tell_written(output,
               fmt::format("{}: {} of {}{}\n", arguments.output, count(result.tokens, "token"),
                           count(result.documents, "document"), left_out(result.empty_files)));
  return Status::done;
}

}  // namespace spillway
