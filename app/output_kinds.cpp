#include "app/output_kinds.hpp"

#include <utility>

#include "base/standard_streams.hpp"
#include "io/tokens/token_set.hpp"

namespace spillway {

std::vector<std::filesystem::path> files_read(std::string const& input, Config const& config) {
  std::vector<std::filesystem::path> files{input};
  for (auto const& file : {config.plan.file, config.debug.machine})
    if (!file.empty()) files.emplace_back(file);
  for (auto const* patterns : {&config.data.train, &config.data.valid})
    for (auto const& pattern : *patterns)
      for (auto& file : matching(pattern)) files.emplace_back(std::move(file));
  return files;
}

void tell_written(Output const& output, std::string_view text) {
  if (output.is_standard_output()) return say(text);
  print_result(text);
}

void say_wrote(Output const& output) {
  if (!output.is_written_through()) say("wrote " + output.path().string());
}

}  // namespace spillway
