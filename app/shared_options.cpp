#include "app/shared_options.hpp"

#include "app/number_list.hpp"

namespace spillway {

std::string is_path(std::string const& path) {
  return path.empty() ? "'' is no name of a file or a directory" : "";
}

CLI::Option* offer_numbers(CLI::App& command, std::string const& name,
                           std::vector<std::int64_t>& numbers, std::string const& about,
                           std::int64_t least, std::int64_t most) {
  return command
      .add_option_function<std::string>(
          name, [&numbers](std::string const& text) { numbers = number_list(text); }, about)
      ->check([=](std::string const& text) { return wrong_in_list(text, least, most); });
}

void offer_base(CLI::App& command, std::string& base) {
  command
      .add_option("--base", base,
                  "where the frozen weights of a checkpoint, or the model of PEFT's adapters, are "
                  "now, if not where that says")
      ->check(is_path);
}

void offer_force(CLI::App& command, bool& force, std::string const& about) {
  command.add_flag("--force", force, about);
}

}  // namespace spillway
