// Words are a text that is being split: the bytes of its words, one behind the other, and where
// each lies; only for this folder's sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/pattern.hpp"

namespace spillway {

struct Words {
  std::string text;
  std::vector<Match> places;  // none is empty
  bool is_beginning = true;   // says whether nothing stood before `text`

  std::string_view word(Match const& place) const {
    return std::string_view(text).substr(place.begin, place.end - place.begin);
  }
};

// What becomes of that at which words are split.
enum class SplitBehavior : std::uint8_t {
  removed,
  isolated,
  merged_with_previous,
  merged_with_next,
  contiguous
};

// A Section is a part of a word that is, or is not, one at which it is split.
struct Section {
  std::size_t begin, end;
  bool is_split;
};

// Appends to `places` what becomes of a word's sections, which follow each other and begin at
// `offset` of the words' text.
void append_words(std::vector<Section> const& sections, SplitBehavior behavior, std::size_t offset,
                  std::vector<Match>& places);

// Splits each word where sections(word, found) finds Sections.
template <class Sections>
void split(Words& words, SplitBehavior behavior, Sections const& sections) {
  std::vector<Match> places;
  std::vector<Section> found;
  for (auto const& place : words.places) {
    found.clear();
    sections(words.word(place), found);
    append_words(found, behavior, place.begin, places);
  }
  words.places = std::move(places);
}

// Writes each word anew: write(word, is_first, to) appends what becomes of it.
template <class Write>
void rewrite(Words& words, Write const& write) {
  std::string text;
  text.reserve(words.text.size() + words.text.size() / 2);
  for (auto& place : words.places) {
    auto const begin = text.size();
    write(words.word(place), place.begin == 0 && words.is_beginning, text);
    place = {begin, text.size()};
  }
  words.text = std::move(text);
}

}  // namespace spillway
