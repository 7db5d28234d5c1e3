#include "huggingface/json_object.hpp"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "config/place.hpp"

namespace spillway {
namespace {

// Checks the parser's events: the library itself accepts any depth, and the last of equal keys.
class Watch {
 public:
  Watch(std::string const& place, std::string_view dropped) : m_place(place), m_dropped(dropped) {}

  // Returns whether to keep what was read.
  bool hear(int depth, Json::parse_event_t event, Json const& parsed) {
    constexpr int most_levels = 32;
    using Event = Json::parse_event_t;
    bool const begins = event == Event::object_start || event == Event::array_start;
    if (begins && depth >= most_levels) fail("nests too many values in each other");
    if (depth == 1 && event == Event::key)
      m_drops = !m_dropped.empty() && parsed.get_ref<std::string const&>() == m_dropped;
    else if (depth > 0 && m_drops)
      return false;  // objects within a dropped value send no end event
    if (event == Event::object_start) m_open.emplace_back();
    if (event == Event::object_end) m_open.pop_back();
    if (event != Event::key) return true;
    m_open.back().last = parsed.get<std::string>();
    if (!m_open.back().keys.insert(m_open.back().last).second) fail("is given twice");
    return !m_drops;
  }

  // Refuses the text and names the key that was read last.
  [[noreturn]] void fail(std::string const& problem) const {
    std::string path;
    for (auto const& object : m_open) {
      if (!path.empty() && !object.last.empty()) path += '.';
      path += shown_key(object.last);
    }
    refuse({m_place, path}, problem);
  }

 private:
  struct Object {
    std::set<std::string> keys;
    std::string last;
  };

  std::string const& m_place;
  std::string_view m_dropped;
  bool m_drops = false;
  std::vector<Object> m_open;
};

constexpr std::size_t kMostShown = 60;

}  // namespace

Json parse_object(std::string const& text, std::string const& place, std::string_view dropped) {
  Watch watch(place, dropped);
  try {
    auto const keep = [&](int depth, Json::parse_event_t event, Json const& parsed) {
      return watch.hear(depth, event, parsed);
    };
    auto object = Json::parse(text, keep);
    if (!object.is_object()) refuse({place, ""}, "is not a JSON object");
    return object;
  } catch (Json::parse_error const& error) {
    refuse({place, ""}, fmt::format("is not JSON at byte {} of it", error.byte));
  } catch (Json::out_of_range const&) {
    watch.fail("the number is larger than any that a double holds");
  }
}

std::string shown(Json const& value) {
  constexpr bool in_ascii = true;
  if (value.is_structured()) return value.is_array() ? "a list" : "a map";
  auto text = value.dump(-1, ' ', in_ascii);
  if (text.size() > kMostShown) text = text.substr(0, kMostShown) + "...";
  return text;
}

std::string shown_key(std::string_view key) {
  auto text = shown(Json(key));
  text.erase(0, 1);
  if (text.ends_with('"')) text.pop_back();
  return text;
}

}  // namespace spillway
