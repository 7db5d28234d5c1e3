#include "app/commands.hpp"
#include "base/standard_streams.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "huggingface/import_model.hpp"

namespace spillway {

Status run_print_config(std::string const& input, std::vector<std::string> const& overrides) {
  auto const config =
      input.empty() ? Config{} : load_config(input, overrides, on_host, import_model);
  print_result(print_config(config));
  return Status::done;
}

}  // namespace spillway
