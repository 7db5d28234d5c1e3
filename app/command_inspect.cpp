#include <fmt/core.h>

#include <filesystem>
#include <span>

#include "app/commands.hpp"
#include "base/standard_streams.hpp"
#include "config/load.hpp"
#include "io/inspect/describe.hpp"

namespace spillway {
namespace {

// Writes one line for neighbours that are alike. The last word holds for all that follow as well.
std::string describe_list(std::string const& what, std::span<std::string const> words) {
  std::string text;
  for (std::size_t first = 0, next = 0; first < words.size(); first = next) {
    while (next < words.size() && words[next] == words[first]) ++next;
    auto const numbers =
        next - first == 1 ? fmt::format("{}", first) : fmt::format("{} to {}", first, next - 1);
    text += fmt::format("  {} {:<11} {}\n", what, numbers, words[first]);
  }
  return text;
}

std::string describe_plan(std::string const& path) {
  auto const plan = load_plan(path);
  auto text = fmt::format("plan {}\n", path) + describe_list("layer", texts(plan.activations)) +
              describe_list("chunk", texts(plan.update));
  if (plan.prefetch) text += fmt::format("  prefetch          {}\n", *plan.prefetch);
  return text;
}

}  // namespace

Status run_inspect(std::string const& path) {
  bool const is_plan = std::filesystem::path(path).extension() == ".yaml";
  print_result(is_plan ? describe_plan(path) : describe(path));
  return Status::done;
}

}  // namespace spillway
