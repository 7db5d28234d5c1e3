#include "app/output_kinds.hpp"

#include "base/standard_streams.hpp"

namespace spillway {

std::vector<std::filesystem::path> files_read(std::string const& input, Config const& config) {
  std::vector<std::filesystem::path> files{input};
  for (auto const& file : {config.plan.file, config.debug.machine})
    if (!file.empty()) files.emplace_back(file);
  for (auto const* patterns : {&config.data.train, &config.data.valid})
    files.insert(files.end(), patterns->begin(), patterns->end());
  return files;
}

void tell_written(Output const& output, std::string_view text) {
  if (output.is_standard_output()) return say(text);
  print_result(text);
}

}  // namespace spillway
