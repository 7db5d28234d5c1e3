#include "app/kokkos_words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace spillway {
namespace {

constexpr std::string_view kBegin = "--kokkos-";

struct Option {
  std::string_view name;
  bool is_switch = false;            // whether it means yes or no, and yes without a value
  std::string_view decided_by = {};  // the key of the input file that decides instead
};
constexpr std::array kOptions = {Option{"tools-libs"},
                                 Option{"tools-args"},
                                 Option{"print-configuration", true},
                                 Option{"tune-internals", true},
                                 Option{"disable-warnings", true},
                                 Option{"num-threads", false, "run.threads"},
                                 Option{"device-id", false, "run.device"},
                                 Option{"map-device-id-by", false, "run.device"}};

[[noreturn]] void refuse(std::string_view name, std::string const& why) {
  throw Error(Status::bad_input, fmt::format("{}{}: {}", kBegin, name, why));
}

Option const& option(std::string_view name) {
  auto const* const found = std::ranges::find(kOptions, name, &Option::name);
  if (found == kOptions.end())
    refuse(name,
           "is not taken; --kokkos-tools-libs=FILE, --kokkos-tools-args=TEXT, "
           "--kokkos-print-configuration and --kokkos-tune-internals are");
  if (!found->decided_by.empty())
    refuse(name, fmt::format("give {} instead, which decides it", found->decided_by));
  return *found;
}

// Returns the name of the environment variable, such as KOKKOS_TOOLS_LIBS.
std::string variable(std::string_view name) {
  std::string text = "KOKKOS_";
  for (char const c : name)
    text += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

void take(std::string_view word) {
  auto const equals = std::min(word.find('='), word.size());
  auto const name = word.substr(0, equals);
  auto const& known = option(name);
  auto value = std::string(word.substr(std::min(equals + 1, word.size())));
  if (known.is_switch && equals == word.size()) value = "true";
  auto const words = {"true", "false", "yes", "no", "1", "0"};
  if (known.is_switch && std::ranges::count(words, value) == 0)
    refuse(name, fmt::format("'{}' is neither true nor false", value));
  if (value.empty()) refuse(name, "give it a value: =VALUE");
  setenv(variable(name).c_str(), value.c_str(), 1);
}

}  // namespace

void take_kokkos_words(int& argc, char** argv) {
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    std::string_view const word = argv[i];
    if (word.starts_with(kBegin))
      take(word.substr(kBegin.size()));
    else
      argv[kept++] = argv[i];
  }
  argv[argc = kept] = nullptr;
}

}  // namespace spillway
