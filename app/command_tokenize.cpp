#include <fmt/core.h>

#include <filesystem>

#include "app/commands.hpp"
#include "app/output_kinds.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "io/tokens/token_head.hpp"

namespace spillway {

Status run_tokenize(TokenizeArguments const& arguments) {
  std::vector<std::filesystem::path> const files(arguments.files.begin(), arguments.files.end());
  Output const output(arguments.output, {kTokenOutput, files, arguments.force});
  auto const result = tokenize_bytes(files, output, arguments.separator);
  tell_written(output, fmt::format("{}: {} tokens of {} documents\n", arguments.output,
                                   result.tokens, result.documents));
  return Status::done;
}

}  // namespace spillway
