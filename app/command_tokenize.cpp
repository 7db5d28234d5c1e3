#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "app/commands.hpp"
#include "app/output_kinds.hpp"
#include "base/work_progress.hpp"
#include "io/tokens/byte_tokenizer.hpp"
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

}  // namespace

Status run_tokenize(TokenizeArguments const& arguments) {
  std::vector<std::filesystem::path> const files(arguments.files.begin(), arguments.files.end());
  Output const output(arguments.output, {kTokenOutput, files, arguments.force});
  WorkProgress progress({"tokenize", "bytes", size_of(files)});
  auto const result = tokenize_bytes(files, output, arguments.separator,
                                     [&](std::int64_t bytes) { progress.add(bytes); });
  progress.clear();
  tell_written(output,
               fmt::format("{}: {} of {}{}\n", arguments.output, count(result.tokens, "token"),
                           count(result.documents, "document"), left_out(result.empty_files)));
  return Status::done;
}

}  // namespace spillway
