#include "app/commands.hpp"
#include "base/standard_streams.hpp"
#include "config/load.hpp"
#include "config/print.hpp"

namespace spillway {

Status run_print_config(std::string const& input, std::vector<std::string> const& overrides) {
  auto const config = input.empty() ? Config{} : load_config(input, overrides);
  print_result(print_config(config));
  return Status::done;
}

}  // namespace spillway
