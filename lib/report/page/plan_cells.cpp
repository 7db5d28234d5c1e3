#include "report/page/plan_cells.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace spillway {
namespace {

struct List {
  std::string key;
  std::vector<std::pair<std::string, std::string>> entries;  // a name and its value
};

std::string trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") + 1 - first));
}

// Reads a line such as "  - keep        # h.0".
void read_entry(std::string_view line, std::vector<List>& lists) {
  auto const dash = line.find("- "), mark = line.find('#');
  if (lists.empty() || dash == line.npos || mark == line.npos || mark < dash) return;
  lists.back().entries.emplace_back(trimmed(line.substr(mark + 1)),
                                    trimmed(line.substr(dash + 2, mark - dash - 2)));
}

// Reads a line such as "activations:", which begins a list, or "prefetch: 1".
void read_key(std::string_view line, std::vector<List>& lists, PageJson& settings) {
  auto const colon = line.find(':');
  if (colon == line.npos) return;
  auto const key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
  if (value.empty()) {
    lists.push_back({key, {}});
  } else {
    settings[key] = value;
  }
}

// Returns the names of the longest list, and then the others.
std::vector<std::string> names_in(std::vector<List> const& lists) {
  std::vector<std::string> names;
  auto const add = [&](List const& list) {
    for (auto const& [name, value] : list.entries)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  auto const longest =
      std::ranges::max_element(lists, {}, [](List const& list) { return list.entries.size(); });
  if (longest != lists.end()) add(*longest);
  for (List const& list : lists) add(list);
  return names;
}

PageJson row_of(List const& list, std::vector<std::string> const& names) {
  PageJson cells = PageJson::array();
  for (auto const& name : names) {
    auto const found = std::ranges::find(list.entries, name, [](auto const& e) { return e.first; });
    cells.push_back(found == list.entries.end() ? "" : found->second);
  }
  return {{"key", list.key}, {"cells", std::move(cells)}};
}

}  // namespace

PageJson plan_cells(std::string_view text) {
  std::vector<List> lists;
  PageJson settings = PageJson::object();
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    auto const line = text.substr(0, end);
    line.starts_with(' ') ? read_entry(line, lists) : read_key(line, lists, settings);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  auto const names = names_in(lists);
  PageJson json = {{"columns", names}, {"rows", PageJson::array()}, {"settings", settings}};
  for (List const& list : lists) json["rows"].push_back(row_of(list, names));
  return json;
}

}  // namespace spillway
