#include "app/help_format.hpp"

#include <sstream>

#include "base/wrapped.hpp"

namespace spillway {
namespace {

std::string paragraphs(std::string const& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) result += wrapped_line(line, "");
  return result;
}

}  // namespace

std::string HelpFormat::beside_names(std::string const& text) const {
  return wrapped(text, "", kPageColumns - get_column_width());
}

std::string HelpFormat::make_description(CLI::App const* app) const {
  return paragraphs(Formatter::make_description(app));
}

std::string HelpFormat::make_footer(CLI::App const* app) const {
  return paragraphs(Formatter::make_footer(app));
}

// CLI11 indents the lines of a text beside a name.
std::string HelpFormat::make_subcommand(CLI::App const* command) const {
  std::ostringstream out;
  CLI::detail::format_help(out, command->get_display_name(true),
                           beside_names(command->get_description()), get_column_width());
  return out.str();
}

std::string HelpFormat::make_option_desc(CLI::Option const* option) const {
  return beside_names(option->get_description());
}

}  // namespace spillway
