#include "config/assign.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "config/keys.hpp"
#include "config/other_names.hpp"
#include "config/place.hpp"
#include "config/suggest.hpp"

namespace spillway {
namespace {

bool is_inside(std::string_view name, std::string_view group) {
  return name.size() > group.size() && name.starts_with(group) && name[group.size()] == '.';
}

constexpr std::string_view kOff = "none";

// In a file a colon stands before a value: optim.lr=1 is `lr: 1` there.
std::string as_in_file(std::string_view assignment) {
  auto const equals = assignment.find('=');
  auto const name = assignment.substr(0, equals);
  return fmt::format("in a file it is `{}: {}`", name.substr(name.rfind('.') + 1),
                     assignment.substr(equals + 1));
}

// Says what is known of names that are no key: what to do about one that resembles no other, and
// whether the names of other programs are explained.
struct Unknown {
  std::string_view hint;
  bool explains_others = false;
};

class Assigner {
 public:
  Assigner(std::vector<Key> keys, Origins& origins, std::string source, bool from_file,
           Unknown unknown)
      : m_keys(std::move(keys)),
        m_origins(origins),
        m_source(std::move(source)),
        m_from_file(from_file),
        m_unknown(unknown) {}

  // Assigns `value` to the key `name`, or its entries to the keys of the group `name`. An empty
  // name stands for the group of all keys.
  void assign(std::string const& name, int line, Value const& value) {
    auto const key = std::ranges::find(m_keys, name, &Key::name);
    if (key != m_keys.end()) return assign_key(*key, line, value);
    Place const place{where(line), name};
    if (!name.empty()) check_is_group(name, place);
    if (value.kind == Value::Kind::map) {
      for (auto const& [child, child_line, child_value] : value.entries) {
        assign(name.empty() ? child : name + "." + child, child_line, child_value);
      }
    } else if (value.kind == Value::Kind::scalar && all_take(name, value.text)) {
      for (auto const& member : members(name)) assign_key(member, line, value);
    } else if (value.kind == Value::Kind::scalar && is_switched_by(name, value.text)) {
      switch_off(name, line, value);
    } else if (value.kind != Value::Kind::null || !m_from_file) {
      refuse(place,
             fmt::format("expected a map of keys, got {}{}", describe(value), as_map(name, value)));
    }
  }

 private:
  std::string where(int line) const {
    return m_from_file ? fmt::format("{}:{}", m_source, line) : m_source;
  }

  void assign_key(Key const& key, int line, Value const& value) {
    Place const place{where(line), std::string(key.name)};
    auto const earlier = m_origins.find(key.name);
    if (m_from_file && earlier != m_origins.end()) {
      refuse(place, fmt::format("given twice (first in {})", earlier->second));
    }
    read_key(key, value, place);
    m_origins[place.key] = place.where;
  }

  std::vector<Key> members(std::string_view group) const {
    std::vector<Key> result;
    std::ranges::copy_if(m_keys, std::back_inserter(result),
                         [&](Key const& key) { return is_inside(key.name, group); });
    return result;
  }

  // Returns whether all keys of a group may be `word`. If they may, the word can be given for the
  // group, as in "memory.nvme: none".
  bool all_take(std::string_view group, std::string_view word) const {
    auto const keys = members(group);
    return !keys.empty() &&
           std::ranges::all_of(keys, [&](auto const& key) { return takes_word(key, word); });
  }

  // Returns whether the word switches the group off: none does so to a group within another whose
  // first key may be none, as in "model.lora: none".
  bool is_switched_by(std::string_view group, std::string_view word) const {
    auto const keys = members(group);
    return group.find('.') != group.npos && word == kOff && !keys.empty() &&
           takes_word(keys.front(), word);
  }

  // All keys of the group are as if they had not been given, and its first one is none.
  void switch_off(std::string const& group, int line, Value const& value) {
    Config defaults;
    auto const unset = keys_of(defaults);
    for (auto const& key : members(group)) {
      auto const as_unset = std::ranges::find(unset, key.name, &Key::name);
      read_key(key, parse_yaml(write_key(*as_unset), m_source), {where(line), group});
      if (auto const given = m_origins.find(key.name); given != m_origins.end())
        m_origins.erase(given);
    }
    assign_key(members(group).front(), line, value);
  }

  // Returns how a value that stands for a group is written, such as "; say lora: {rank: 16}" in a
  // file, if its first key takes it.
  std::string as_map(std::string const& group, Value const& value) const {
    auto const keys = members(group);
    if (value.kind != Value::Kind::scalar || keys.empty()) return "";
    try {
      read_key(keys.front(), value, {});
    } catch (Error const&) {
      return "";
    }
    if (!m_from_file) return fmt::format("; say {}={}", keys.front().name, value.text);
    auto const last = group.substr(group.rfind('.') + 1);
    return fmt::format("; say {}: {{{}: {}}}", last, keys.front().name.substr(group.size() + 1),
                       value.text);
  }

  void check_is_group(std::string const& name, Place const& place) const {
    if (!members(name).empty()) return;
    auto const is_it = [&](auto later) { return later == name || is_inside(name, later); };
    if (std::ranges::any_of(later_keys(), is_it)) refuse(place, "not offered in this version");
    refuse(place, "unknown key; " + advice(name));
  }

  // Returns what to write instead of a name that is no key.
  std::string advice(std::string const& name) const {
    if (m_from_file && name.find('=') != name.npos) return as_in_file(name);
    auto const known = names();
    auto const* other = m_unknown.explains_others ? other_name(name, known) : nullptr;
    if (other != nullptr) return advice_of(*other);
    auto const nearest = nearest_name(name, known);
    return nearest.empty() ? std::string(m_unknown.hint) : asked(nearest);
  }

  // Returns the names of all keys and of all groups, each once.
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (auto const& key : m_keys) {
      for (auto dot = key.name.find('.'); dot != key.name.npos; dot = key.name.find('.', dot + 1)) {
        std::string const group(key.name.substr(0, dot));
        if (std::ranges::find(result, group) == result.end()) result.push_back(group);
      }
      result.emplace_back(key.name);
    }
    return result;
  }

  std::vector<Key> m_keys;
  Origins& m_origins;
  std::string m_source;
  bool m_from_file;
  Unknown m_unknown;
};

// Says which values of a key are read as YAML on the command line: none, only lists, or lists and
// maps.
enum class YamlAllowed { none, list, list_or_map };

YamlAllowed yaml_allowed(std::vector<Key> const& keys, std::string_view name) {
  auto const key = std::ranges::find(keys, name, &Key::name);
  if (key == keys.end()) return YamlAllowed::list_or_map;  // `name` is a group or unknown
  return std::visit(
      []<class Field>(Field const&) {
        if (std::is_same_v<Field, GlobsField>) return YamlAllowed::list;
        bool const is_text = std::is_same_v<Field, PathField> ||
                             std::is_same_v<Field, ChoiceField> ||
                             std::is_same_v<Field, NumberedNameField>;
        return is_text ? YamlAllowed::none : YamlAllowed::list_or_map;
      },
      key->field);
}

// Returns the value of an override. It is plain text, because the shell has already removed quotes,
// unless the key takes YAML and brackets or braces enclose the whole value.
Value value_given(std::vector<Key> const& keys, std::string const& name, std::string const& text) {
  auto const allowed = yaml_allowed(keys, name);
  bool const is_list = text.starts_with('[') && text.ends_with(']');
  bool const is_map = text.starts_with('{') && text.ends_with('}');
  bool const is_yaml =
      (is_list && allowed != YamlAllowed::none) || (is_map && allowed == YamlAllowed::list_or_map);
  if (!is_yaml) return {text.empty() ? Value::Kind::null : Value::Kind::scalar, 1, text, {}, {}};
  try {
    return parse_yaml(text, name);
  } catch (Error const& e) {
    refuse({std::string(command_line), ""}, e.what());
  }
}

constexpr Unknown kInput = {"--print-config lists all", true};

}  // namespace

void assign_file(Config& config, Origins& origins, Value const& root, std::string const& source) {
  assign_group(config, origins, "", root, source);
}

void assign_group(Config& config, Origins& origins, std::string const& group, Value const& root,
                  std::string const& source) {
  Assigner(keys_of(config), origins, source, true, kInput).assign(group, root.line, root);
}

void assign_keys(std::vector<Key> keys, Origins& origins, Value const& root,
                 std::string const& source, std::string_view hint) {
  Assigner(std::move(keys), origins, source, true, Unknown{hint}).assign("", root.line, root);
}

std::string key_for_option(std::string_view option) {
  auto const name =
      std::string(option.substr(std::min(option.find_first_not_of('-'), option.size())));
  auto const word = name.substr(0, name.find('='));
  Config config;
  std::vector<std::string> names;
  for (auto const& key : keys_of(config)) names.emplace_back(key.name);
  if (std::ranges::count(names, word) > 0) return fmt::format("here it is {}", word);
  if (auto const* const other = other_name(word, names)) return advice_of(*other);
  auto const nearest = nearest_name(word, names);
  return nearest.ends_with("." + word) ? asked(nearest) : "";
}

void assign_override(Config& config, Origins& origins, std::string const& text) {
  auto const equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    refuse({std::string(command_line), ""}, fmt::format("'{}': expected key=value", text));
  }
  auto const name = text.substr(0, equals);
  auto keys = keys_of(config);
  auto const value = value_given(keys, name, text.substr(equals + 1));
  Assigner(std::move(keys), origins, std::string(command_line), false, kInput)
      .assign(name, 1, value);
}

}  // namespace spillway
