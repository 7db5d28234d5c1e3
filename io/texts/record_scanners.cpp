#include "io/texts/record_scanners.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"

namespace spillway {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Lines final : public RecordScanner {
 public:
  void scan(std::string_view text, std::size_t from, std::vector<RecordPlace>& to) override {
    while (true) {
      auto const end = text.find('\n', from);
      if (end == text.npos) break;
      add(text, end, to);
      from = m_begin = end + 1;
      ++m_line;
    }
  }
  void end(std::string_view text, std::vector<RecordPlace>& to) override {
    add(text, text.size(), to);
    m_begin = text.size();
  }
  std::size_t rest() const override { return m_begin; }
  void drop(std::size_t bytes) override { m_begin -= bytes; }

 private:
  void add(std::string_view text, std::size_t end, std::vector<RecordPlace>& to) const {
    if (!std::ranges::all_of(text.substr(m_begin, end - m_begin), is_blank))
      to.push_back({m_begin, end, m_line});
  }

  std::size_t m_begin = 0;
  std::int64_t m_line = 1;
};

// Knows strings and how deep brackets lie in each other; what else is wrong with an element shows
// when it is read.
class List final : public RecordScanner {
 public:
  explicit List(std::filesystem::path path) : m_path(std::move(path)) {}

  void scan(std::string_view text, std::size_t from, std::vector<RecordPlace>& to) override {
    for (m_at = from; m_at < text.size(); ++m_at) {
      auto const c = text[m_at];
      if (c == '\n') ++m_line;
      if (m_place == Place::element)
        go_on(c, to);
      else if (!is_blank(c))
        begin(c);
    }
  }
  void end(std::string_view, std::vector<RecordPlace>&) override {
    if (m_place != Place::behind) refuse("the list has no end");
  }
  std::size_t rest() const override { return m_place == Place::element ? m_begin : m_at; }
  void drop(std::size_t bytes) override {
    m_begin -= std::min(m_begin, bytes);
    m_at -= bytes;
  }

 private:
  enum class Place : std::uint8_t { before, first, next, element, comma, behind };

  // Handles a byte that is not blank, outside of elements.
  void begin(char c) {
    if (m_place == Place::before) {
      if (c != '[') refuse("is no list of records, which begins with [");
      m_place = Place::first;
    } else if (m_place == Place::behind) {
      refuse("something stands behind the list");
    } else if (c == ']' && m_place != Place::next) {
      m_place = Place::behind;
    } else if (m_place == Place::comma) {
      if (c != ',') refuse("a comma or ] is missing");
      m_place = Place::next;
    } else {
      m_place = Place::element;
      m_begin = m_at;
      m_begin_line = m_line;
      m_depth = c == '{' || c == '[' ? 1 : 0;
      m_is_string = c == '"';
      m_is_plain = m_depth == 0 && !m_is_string;
    }
  }

  void go_on(char c, std::vector<RecordPlace>& to) {
    if (m_is_string) return go_on_in_string(c, to);
    if (m_is_plain) {
      if (is_blank(c) || c == ',' || c == ']') end_element(m_at, to), begin_behind(c);
    } else if (c == '"') {
      m_is_string = true;
    } else if (c == '{' || c == '[') {
      ++m_depth;
    } else if ((c == '}' || c == ']') && --m_depth == 0) {
      end_element(m_at + 1, to);
    }
  }

  void go_on_in_string(char c, std::vector<RecordPlace>& to) {
    if (m_is_escaped) {
      m_is_escaped = false;
    } else if (c == '\\') {
      m_is_escaped = true;
    } else if (c == '"') {
      m_is_string = false;
      if (m_depth == 0) end_element(m_at + 1, to);
    }
  }

  void end_element(std::size_t end, std::vector<RecordPlace>& to) {
    to.push_back({m_begin, end, m_begin_line});
    m_place = Place::comma;
  }
  // A number or a word ends with the byte that follows it.
  void begin_behind(char c) {
    if (!is_blank(c)) begin(c);
  }

  [[noreturn]] void refuse(char const* why) const {
    throw Error(Status::bad_input, fmt::format("{}:{}: {}", m_path.string(), m_line, why));
  }

  std::filesystem::path m_path;
  Place m_place = Place::before;
  std::size_t m_at = 0, m_begin = 0;
  std::int64_t m_line = 1, m_begin_line = 1, m_depth = 0;
  bool m_is_string = false, m_is_escaped = false, m_is_plain = false;
};

}  // namespace

std::unique_ptr<RecordScanner> scan_lines() {
  return std::make_unique<Lines>();
}

std::unique_ptr<RecordScanner> scan_list(std::filesystem::path path) {
  return std::make_unique<List>(std::move(path));
}

}  // namespace spillway
