// StopTexts end a generated text where one of some given texts appears in it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spillway {

class StopTexts {
 public:
  // No text may be empty.
  explicit StopTexts(std::vector<std::string> texts = {}) : m_texts(std::move(texts)) {}

  // Takes in what was generated, and returns what of it may be shown now: nothing from the first
  // stop text on, and nothing that may be the beginning of one, which is held back.
  std::string add(std::string_view text);
  // Returns what is held back, when nothing more comes.
  std::string rest();
  bool is_reached() const { return m_is_reached; }

 private:
  std::size_t held_bytes() const;

  std::vector<std::string> m_texts;
  std::string m_held;
  bool m_is_reached = false;
};

}  // namespace spillway
