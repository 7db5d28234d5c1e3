#include "app/describe_yaml.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "app/machine_text.hpp"
#include "base/count.hpp"
#include "base/error.hpp"
#include "base/wrapped.hpp"
#include "config/keys.hpp"
#include "config/load.hpp"
#include "config/value.hpp"
#include "huggingface/import_model.hpp"
#include "io/file/read_file.hpp"
#include "monitor/run_record.hpp"
#include "plan/data/plan.hpp"

namespace spillway {
namespace {

// Returns one line for each range of neighbouring words that are equal. The last word also holds
// for all layers or chunks for which `words` has no entry.
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
  if (plan.shard_ranks) text += fmt::format("  shard_ranks       {}\n", word(*plan.shard_ranks));
  if (plan.early) text += fmt::format("  early             {} %\n", *plan.early);
  if (plan.group) text += fmt::format("  group             {}\n", *plan.group);
  return text;
}

// Returns the first line of a file if it is a comment that somebody has written, without the mark.
std::string title_of(std::string const& text) {
  constexpr std::string_view mark = "# ";
  if (!text.starts_with(mark) || text.starts_with(kMeasuredHead)) return "";
  return text.substr(mark.size(), text.find('\n') - mark.size());
}

std::string describe_machine(std::string const& path) {
  constexpr std::int64_t most_bytes = 1 << 26;
  auto const text = read_text(path, most_bytes);
  return machine_text(parse_profile(text, path), path, title_of(text));
}

std::string describe_input(std::string const& path) {
  auto const config = load_config(path, {}, elsewhere, import_model);
  auto const row = [](char const* name, std::string const& text) {
    return wrapped_row(fmt::format("  {}", name), text, 15);
  };
  return fmt::format("input file {}\n", path) + row("model", model_words(config)) +
         (config.data.train.empty() ? "" : row("data", data_words(config.data))) +
         row("a step", fmt::format("{} of {}", count(config.batch.sequences, "sequence"),
                                   count(config.data.sequence, "token"))) +
         row("run", fmt::format("{}, in {}", count(config.run.steps, "step"), config.run.dir)) +
         fmt::format(
             "  used by      spillway train {0}\n  its plan     spillway plan {0}\n"
             "  all keys     spillway --print-config {0}\n",
             path);
}

// A kind of file, how its keys are known, and what describes it.
struct Kind {
  bool (*has)(std::string_view key);
  std::string (*describe)(std::string const& path);
};

bool is_input_key(std::string_view name) {
  Config any;
  return std::ranges::any_of(keys_of(any), [&](Key const& key) { return key.is_in(name); });
}

bool is_plan_key(std::string_view name) {
  return is_input_key(fmt::format("plan.{}", name));
}

constexpr Kind kKinds[] = {{is_plan_key, describe_plan},
                           {is_machine_key, describe_machine},
                           {is_input_key, describe_input}};

}  // namespace

std::string describe_yaml(std::string const& path) {
  auto const root = read_yaml(path);
  // Kinds have few keys in common, and a file may have a wrong one.
  auto const known = [&](Kind const& kind) {
    return std::ranges::count_if(root.entries, [&](Entry const& it) { return kind.has(it.key); });
  };
  auto const& kind = *std::ranges::max_element(kKinds, {}, known);
  if (known(kind) == 0)
    throw Error(Status::bad_input,
                path + ": is no plan, no machine file and no input file: it has no key of theirs");
  return kind.describe(path);
}

}  // namespace spillway
