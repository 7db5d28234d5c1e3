// Lays out what --help says, so that no line is longer than a page is wide (base/wrapped.hpp).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace spillway {

// In a footer every newline begins a paragraph, which is broken into lines here.
class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_description(CLI::App const* app) const override;
  std::string make_footer(CLI::App const* app) const override;
  std::string make_subcommand(CLI::App const* command) const override;
  std::string make_option_desc(CLI::Option const* option) const override;

 private:
  std::string beside_names(std::string const& text) const;
};

}  // namespace spillway
