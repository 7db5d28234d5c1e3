// What a model learns to predict, and how long the rows are that this takes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace spillway {

enum class Objective : std::uint8_t {
  next,    // every token's successor
  masked,  // tokens that are hidden (Devlin et al., arXiv:1810.04805)
  spans,   // spans that sentinels stand for, by a decoder (Raffel et al., arXiv:1910.10683)
};
inline constexpr std::array<std::string_view, 3> kObjectiveNames = {"next", "masked", "spans"};
constexpr std::string_view name(Objective objective) {
  return kObjectiveNames[static_cast<std::size_t>(objective)];
}

// Rows of a sequence in every stack: data.sequence and, for spans, the decoder's data.target, whose
// `auto` is what the spans of data.sequence need. Throws Error(bad_input) for keys of `data` that
// belong to another objective, and for lengths in which no span has a place.
std::vector<std::int64_t> stack_lengths(DataConfig const& data, Objective objective);

// How much of `tokens` >= 2 tokens becomes noise, and in how many spans: 15 % in spans of three.
struct SpanCounts {
  std::int64_t noise = 0, spans = 0;
};
SpanCounts span_counts(std::int64_t tokens);

// Most tokens that fill at most `inputs` rows of the encoder and `targets` of the decoder when
// spans of them are noise, with one row of either for the end of the sequence; 0: none do.
std::int64_t span_window(std::int64_t inputs, std::int64_t targets);

}  // namespace spillway
