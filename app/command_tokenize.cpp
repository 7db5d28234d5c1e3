#include <fmt/core.h>

#include <filesystem>

#include "app/commands.hpp"
#include "base/standard_streams.hpp"
#include "io/tokens/byte_tokenizer.hpp"

namespace spillway {

Status run_tokenize(TokenizeArguments const& arguments) {
  std::vector<std::filesystem::path> const files(arguments.files.begin(), arguments.files.end());
  auto const result = tokenize_bytes(files, arguments.output, arguments.separator);
  print_result(fmt::format("{}: {} tokens of {} documents\n", arguments.output, result.tokens,
                           result.documents));
  return Status::done;
}

}  // namespace spillway
