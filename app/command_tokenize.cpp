#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "app/commands.hpp"
#include "app/output_kinds.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "io/tokens/token_head.hpp"

namespace spillway {
namespace {

std::string left_out(std::int64_t empty_files) {
  if (empty_files == 0) return "";
  return fmt::format(" ({} empty file{} left out)", empty_files, empty_files == 1 ? "" : "s");
}

}  // namespace

Status run_tokenize(TokenizeArguments const& arguments) {
  std::vector<std::filesystem::path> const files(arguments.files.begin(), arguments.files.end());
  Output const output(arguments.output, {kTokenOutput, files, arguments.force});
  auto const result = tokenize_bytes(files, output, arguments.separator);
  tell_written(output, fmt::format("{}: {} tokens of {} documents{}\n", arguments.output,
                                   result.tokens, result.documents, left_out(result.empty_files)));
  return Status::done;
}

}  // namespace spillway
