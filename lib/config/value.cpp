#include "config/value.hpp"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "base/input_file.hpp"
#include "config/place.hpp"

namespace spillway {
namespace {

std::string const no_alias = "aliases are not offered; quote a value that begins with '*'";

// Builds the tree from the events of yaml-cpp's parser, so that every node has its line. The tree
// of yaml-cpp itself would resolve aliases, and an alias may contain itself.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string const& source) : m_source(source) {}

  Value take() { return std::move(m_root); }

  void OnDocumentStart(YAML::Mark const&) override {}
  void OnDocumentEnd() override {}
  void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override {
    begin(mark, "", anchor, Value::Kind::null);
    end();
  }
  void OnAlias(YAML::Mark const& mark, YAML::anchor_t) override { fail(mark, no_alias); }
  void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                std::string const& text) override {
    if (map_awaiting_key()) return add_key(m_levels.back(), mark, text);
    begin(mark, tag, anchor, Value::Kind::scalar).text = text;
    end();
  }
  void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, tag, anchor, Value::Kind::list);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, tag, anchor, Value::Kind::map);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Level {
    Value value;
    bool awaits_key = false;                          // whether the next event is a key of this map
    std::unordered_map<std::string, int> lines = {};  // the lines of the keys if `value` is a map
  };

  [[noreturn]] void fail(YAML::Mark const& mark, std::string const& problem) const {
    refuse({fmt::format("{}:{}", m_source, mark.line + 1), ""}, problem);
  }

  bool map_awaiting_key() const { return !m_levels.empty() && m_levels.back().awaits_key; }

  // Returns the groups around the map that is being read, such as "run.checkpoint.".
  std::string groups() const {
    std::string text;
    for (auto level = m_levels.begin(); level + 1 < m_levels.end(); ++level) {
      if (level->value.kind == Value::Kind::map) text += level->value.entries.back().key + ".";
    }
    return text;
  }

  void add_key(Level& map, YAML::Mark const& mark, std::string const& key) {
    auto const [same, is_new] = map.lines.try_emplace(key, mark.line + 1);
    if (!is_new)
      fail(mark, fmt::format("{}{}: given twice (first in line {})", groups(), key, same->second));
    map.value.entries.push_back({key, mark.line + 1, {}});
    map.awaits_key = false;
  }

  Value& begin(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
               Value::Kind kind) {
    if (map_awaiting_key()) fail(mark, "a key must be a single word");
    if (anchor != 0) fail(mark, "anchors are not offered");
    if (!tag.empty() && tag != "?" && tag != "!") fail(mark, "tags are not offered: " + tag);
    auto& level = m_levels.emplace_back();
    level.value.kind = kind;
    level.value.line = mark.line + 1;
    level.awaits_key = kind == Value::Kind::map;
    return level.value;
  }

  // Moves the value that is complete now into the list or map around it.
  void end() {
    auto done = std::move(m_levels.back().value);
    m_levels.pop_back();
    if (m_levels.empty()) {
      m_root = std::move(done);
      return;
    }
    auto& parent = m_levels.back();
    if (parent.value.kind == Value::Kind::list) {
      parent.value.items.push_back(std::move(done));
    } else {
      parent.value.entries.back().value = std::move(done);
      parent.awaits_key = true;
    }
  }

  std::string const& m_source;
  std::vector<Level> m_levels;
  Value m_root;
};

constexpr std::int64_t kLargestYaml = 4 << 20;  // a plan of 5000 layers takes 1 MiB

}  // namespace

Value const* Value::find(std::string_view key) const {
  auto const entry = std::ranges::find(entries, key, &Entry::key);
  return entry == entries.end() ? nullptr : &entry->value;
}

Value parse_yaml(std::string const& text, std::string const& source) {
  auto const zero = text.find('\0');
  if (zero != text.npos) {
    auto const line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(zero), '\n');
    refuse({fmt::format("{}:{}", source, line), ""}, "is not a text file (a zero byte)");
  }
  TreeBuilder builder(source);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    auto root = builder.take();
    if (parser.HandleNextDocument(builder)) {
      refuse({source, ""}, "holds a second document ('---'); one is expected");
    }
    return root;
  } catch (YAML::Exception const& e) {
    bool const alias = e.msg.starts_with(YAML::ErrorMsg::UNKNOWN_ANCHOR);
    refuse({fmt::format("{}:{}", source, e.mark.line + 1), ""},
           alias ? no_alias : "not YAML: " + e.msg);
  }
}

Value read_yaml(std::string const& path) {
  auto root = parse_yaml(read_input(path, kLargestYaml), path);
  if (root.kind == Value::Kind::null) refuse({path + ":1", ""}, "the file is empty");
  return root;
}

std::string describe(Value const& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return "nothing";
    case Value::Kind::scalar:
      return fmt::format("'{}'", value.text);
    case Value::Kind::list:
      return "a list";
    case Value::Kind::map:
      return "a map";
  }
  return "";
}

std::string quoted_yaml(std::string_view text) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  auto const safe = std::string(letters) + "_./+-*$=@";
  auto const first = std::string(letters) + "_./$";
  bool const plain = !text.empty() && text.find_first_not_of(safe) == text.npos &&
                     first.find(text[0]) != first.npos && text != "..." && text != "null" &&
                     text != "Null" && text != "NULL";
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace spillway
