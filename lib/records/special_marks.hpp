// SpecialMarks keep apart special tokens that a template writes and the same texts in messages,
// which whoever wrote a message may have put there. A character that no text has is put into them,
// and taken out of what is rendered. Only for this folder's sources.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

class SpecialMarks {
 public:
  // Chooses a character that is not in `json`. Throws std::range_error if it has all that serve.
  SpecialMarks(std::vector<std::string> const& special_tokens, nlohmann::ordered_json const& json);

  // Returns a copy in which all special tokens in texts have a mark behind their first character.
  nlohmann::ordered_json marked(nlohmann::ordered_json json) const;
  // Takes the marks out of a text. Returns where they stood, in the text without them.
  std::vector<std::size_t> take_out(std::string& text) const;
  // Returns the place that a place in a marked text has without the marks.
  std::size_t place_without(std::string_view marked, std::size_t place) const;

 private:
  void mark(nlohmann::ordered_json& json) const;

  std::vector<std::string> const& m_special_tokens;
  std::string m_mark;
};

}  // namespace spillway
