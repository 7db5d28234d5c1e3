#include "tokenizer/words.hpp"

#include <algorithm>

namespace spillway {
namespace {

// Joins each section at which a word is split with the one before it, unless that is one, too.
void merge_with_previous(std::vector<Section> const& sections, std::vector<Match>& places) {
  bool before = false;
  for (auto const& section : sections) {
    bool const merges = section.is_split && !before && &section != &sections.front();
    if (merges)
      places.back().end = section.end;
    else
      places.push_back({section.begin, section.end});
    before = section.is_split;
  }
}

void merge_with_next(std::vector<Section> const& sections, std::vector<Match>& places) {
  auto const first = std::ssize(places);
  bool after = false;
  for (auto section = sections.rbegin(); section != sections.rend(); ++section) {
    bool const merges = section->is_split && !after && section != sections.rbegin();
    if (merges)
      places.back().begin = section->begin;
    else
      places.push_back({section->begin, section->end});
    after = section->is_split;
  }
  std::reverse(places.begin() + first, places.end());
}

void join_alike(std::vector<Section> const& sections, std::vector<Match>& places) {
  bool before = false;
  for (auto const& section : sections) {
    if (section.is_split == before && &section != &sections.front())
      places.back().end = section.end;
    else
      places.push_back({section.begin, section.end});
    before = section.is_split;
  }
}

}  // namespace

void append_words(std::vector<Section> const& sections, SplitBehavior behavior, std::size_t offset,
                  std::vector<Match>& places) {
  auto const first = places.size();
  switch (behavior) {
    case SplitBehavior::removed:
      for (auto const& [begin, end, is_split] : sections)
        if (!is_split) places.push_back({begin, end});
      break;
    case SplitBehavior::isolated:
      for (auto const& [begin, end, is_split] : sections) places.push_back({begin, end});
      break;
    case SplitBehavior::merged_with_previous:
      merge_with_previous(sections, places);
      break;
    case SplitBehavior::merged_with_next:
      merge_with_next(sections, places);
      break;
    case SplitBehavior::contiguous:
      join_alike(sections, places);
      break;
  }
  for (auto i = first; i < places.size(); ++i)
    places[i] = {places[i].begin + offset, places[i].end + offset};
}

}  // namespace spillway
