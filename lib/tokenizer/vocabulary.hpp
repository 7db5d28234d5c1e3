// A Vocabulary has the tokens of a model by their ids, and their ids by tokens; only for this
// folder's sources.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace spillway {

// Lets maps from std::string be asked with a std::string_view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

class Vocabulary {
 public:
  // If a token or an id comes again, the later one holds.
  void add(std::string token, std::int32_t id);

  std::optional<std::int32_t> id_of(std::string_view token) const {
    auto const found = m_ids.find(token);
    return found == m_ids.end() ? std::nullopt : std::optional(found->second);
  }
  // Returns nullptr if no token has the id.
  std::string const* token_of(std::int32_t id) const {
    auto const found = m_tokens.find(id);
    return found == m_tokens.end() ? nullptr : &found->second;
  }
  std::int64_t size() const { return std::ssize(m_ids); }
  std::int64_t end_id() const { return m_end_id; }  // every id is below this
  TextMap<std::int32_t> const& ids() const { return m_ids; }

 private:
  TextMap<std::int32_t> m_ids;
  std::unordered_map<std::int32_t, std::string> m_tokens;
  std::int64_t m_end_id = 0;
};

}  // namespace spillway
