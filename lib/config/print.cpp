#include "config/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/wrapped.hpp"
#include "config/keys.hpp"

namespace spillway {
namespace {

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (auto dot = name.find('.'); dot != name.npos; dot = name.find('.')) {
    parts.push_back(name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  parts.push_back(name);
  return parts;
}

std::string escaped_markdown(std::string_view text) {
  std::string escaped;
  for (char const c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

// Returns a text such as "integer >= 0; in steps".
std::string form_and_unit(Key const& key) {
  auto const form = form_of(key);
  return key.unit.empty() ? form : fmt::format("{}; in {}", form, key.unit);
}

// Returns a text such as " Of llama, t5.", or an empty one for a key that all have.
std::string owners_of(Key const& key) {
  if (!key.families.empty()) return fmt::format(" Of {}.", key.family_words());
  return key.optimizers.empty() ? "" : fmt::format(" Of {}.", key.optimizer_words());
}

// What is trained of a model is none of its own keys.
bool is_of_model(Key const& key) {
  for (auto const name : {"model.freeze", "model.lora", "model.quantize"})
    if (key.is_in(name)) return false;
  bool const is_id = key.name.starts_with("data.") && key.name.ends_with("_id");
  return key.name.starts_with("model.") || (is_id && write_key(key) != key.word);
}

// Writes the keys of the model's family and of the optimizer for which is_wanted is true.
// model.import is left out, because loading has replaced it by other keys.
std::string yaml_of(Config config, std::function<bool(Key const&)> const& is_wanted) {
  auto keys = keys_of(config);
  std::erase_if(keys, [&](Key const& key) {
    return !key.is_of(config) || !is_wanted(key) || key.name == "model.import";
  });
  return nested_yaml(keys, [](Key const&) { return ""; });
}

}  // namespace

std::string nested_yaml(std::vector<Key> const& keys,
                        std::function<std::string(Key const&)> const& comment) {
  std::string text;
  std::vector<std::string_view> open;  // the groups around the key that was written last
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const parts = parts_of(keys[i].name);
    std::size_t depth = 0;
    while (depth < open.size() && depth + 1 < parts.size() && open[depth] == parts[depth]) ++depth;
    open.resize(depth);
    for (; depth + 1 < parts.size(); ++depth) {
      text += fmt::format("{:{}}{}:\n", "", 2 * depth, parts[depth]);
      open.push_back(parts[depth]);
    }
    if (auto const line = comment(keys[i]); !line.empty()) {
      auto const begin = std::string(2 * depth, ' ') + "# ";
      text += wrapped_line(begin + line, begin);
    }
    text += fmt::format("{:{}}{}: {}\n", "", 2 * depth, parts[depth], write_key(keys[i]));
  }
  return text;
}

std::string to_yaml(Config const& config) {
  return yaml_of(config, [](Key const&) { return true; });
}

std::string model_yaml(Config const& config) {
  return yaml_of(config, is_of_model);
}

std::string model_yaml_and(Config const& config, std::span<std::string_view const> more) {
  return yaml_of(config, [&](Key const& key) {
    return is_of_model(key) || std::ranges::find(more, key.name) != more.end();
  });
}

std::string print_config(Config const& config) {
  auto copy = config;
  copy.model.import_from.clear();  // other keys say what it says
  Config defaults;
  auto const default_keys = keys_of(defaults);
  return nested_yaml(keys_of(copy), [&](Key const& key) {
    auto const unset = std::ranges::find(default_keys, key.name, &Key::name);
    return fmt::format("{}{} [{}; default {}]", key.doc, owners_of(key), form_and_unit(key),
                       write_key(*unset));
  });
}

std::string keys_markdown() {
  Config defaults;
  std::string text =
      "# Keys of the input file\n\n"
      "Written from the table in lib/config/keys.cpp; a test checks that it is current.\n"
      "`spillway --print-config [in.yaml]` prints the same with the values of a file.\n";
  constexpr auto table_head = "| key | default | values | meaning |\n| --- | --- | --- | --- |\n";
  std::string_view group = "-";
  for (auto const& key : keys_of(defaults)) {
    auto const dot = key.name.find('.');
    auto const key_group = dot == key.name.npos ? std::string_view() : key.name.substr(0, dot);
    if (key_group != group) {
      group = key_group;
      text += fmt::format("\n## {}\n\n{}", group.empty() ? key.name : group, table_head);
    }
    text += fmt::format("| `{}` | `{}` | {} | {}{}{} |\n", key.name, write_key(key),
                        escaped_markdown(form_and_unit(key)), escaped_markdown(key.doc),
                        owners_of(key), key.scope == Scope::model ? " A checkpoint fixes it." : "");
  }
  return text;
}

}  // namespace spillway
