#include "samples/span_corruption.hpp"

#include <algorithm>
#include <utility>

#include "samples/draws.hpp"

namespace spillway {
namespace {

// Divides items at random into parts of at least one item. All divisions are equally likely:
// whether a part ends after an item is drawn with a probability of cuts left / places left (Knuth's
// Algorithm S).
class RandomParts {
 public:
  struct Draws {
    std::int64_t first_place;
    int word;  // which of the four words of each place's draw is used
  };
  struct Counts {
    std::int64_t items, parts;
  };
  RandomParts(std::uint64_t seed, std::int64_t sample, Draws draws, Counts counts)
      : m_seed(seed),
        m_sample(sample),
        m_draws(draws),
        m_items(counts.items),
        m_cuts(counts.parts - 1) {}

  std::int64_t next() {
    std::int64_t items = 1;
    while (--m_items > 0 && !cuts_here()) ++items;
    return items;
  }

 private:
  // A cut may be after every item but the last one, so as many places are left as items.
  bool cuts_here() {
    auto const word = draw(m_seed, m_sample, m_draws.first_place++).x[m_draws.word];
    bool const cuts = below(m_items, word) < m_cuts;
    m_cuts -= cuts ? 1 : 0;
    return cuts;
  }

  std::uint64_t m_seed;
  std::int64_t m_sample;
  Draws m_draws;
  std::int64_t m_items, m_cuts;  // how many items and cuts are left
};

class SpanCorruption {
 public:
  SpanCorruption(Recipe const& recipe, std::int64_t sample, BatchBuffers const& to)
      : m_recipe(recipe),
        m_sample(sample),
        m_inputs(to.get<BatchField::tokens>(0)),
        m_input_documents(to.get<BatchField::documents>(0)),
        m_decoder(to.get<BatchField::tokens>(1)),
        m_targets(to.get<BatchField::targets>(1)),
        m_target_documents(to.get<BatchField::documents>(1)),
        m_weights(to.get<BatchField::weights>(1)),
        m_room(recipe) {}

  // Adds as much of a document as fits. Its first token is at `place` of the window.
  void add(std::span<std::int32_t const> text, std::int64_t place) {
    auto const tokens = m_room.take(std::ssize(text));
    if (tokens == 0) return;
    auto const [noise, spans] = span_counts(tokens);
    RandomParts noises(m_recipe.seed, m_sample, {place, 0}, {noise, spans});
    RandomParts keeps(m_recipe.seed, m_sample, {place, 1}, {tokens - noise, spans});
    m_before = m_recipe.ids.pad;
    auto token = text.begin();
    for (std::int32_t span = 0; span < spans; ++span) {
      auto const sentinel = m_recipe.ids.first_sentinel - span;
      for (auto left = keeps.next(); left > 0; --left) keep(*token++);
      keep(sentinel);
      tell(sentinel);
      for (auto left = noises.next(); left > 0; --left) tell(*token++);
    }
    if (m_recipe.ids.eos >= 0) keep(m_recipe.ids.eos), tell(m_recipe.ids.eos);
    ++m_document;
  }

 private:
  void keep(std::int32_t token) {
    auto const row = static_cast<std::size_t>(m_kept++);
    m_inputs[row] = token;
    m_input_documents[row] = m_document;
  }

  void tell(std::int32_t token) {
    auto const row = static_cast<std::size_t>(m_told++);
    m_decoder[row] = std::exchange(m_before, token);
    m_targets[row] = token;
    m_target_documents[row] = m_document;
    m_weights[row] = 1;
  }

  Recipe const& m_recipe;
  std::int64_t m_sample;
  std::span<std::int32_t> m_inputs, m_input_documents, m_decoder, m_targets, m_target_documents;
  std::span<float> m_weights;
  SpanRoom m_room;
  std::int64_t m_kept = 0, m_told = 0;  // rows in use of the encoder and of the decoder
  std::int32_t m_document = 0, m_before = 0;
};

}  // namespace

SpanRoom::SpanRoom(Recipe const& recipe)
    : m_inputs(recipe.lengths[0]),
      m_targets(recipe.lengths[1]),
      m_end(recipe.ids.eos >= 0 ? 1 : 0) {}

std::int64_t SpanRoom::fitting(std::int64_t tokens) const {
  if (tokens < 2) return 0;
  auto const fit = std::min(tokens, span_window(m_inputs, m_targets));
  return fit < 2 ? 0 : fit;
}

std::int64_t SpanRoom::take(std::int64_t tokens) {
  auto const fit = fitting(tokens);
  if (fit == 0) return 0;
  auto const [noise, spans] = span_counts(fit);
  m_inputs -= fit - noise + spans + m_end;
  m_targets -= noise + spans + m_end;
  return fit;
}

void predict_spans(Recipe const& recipe, Window const& window, std::int64_t sample,
                   BatchBuffers const& to) {
  SpanCorruption sequence(recipe, sample, to);
  auto const text = window.tokens.first(window.tokens.size() - 1);
  std::int64_t first = 0;
  auto const add_until = [&](std::int64_t end) {
    auto const size = static_cast<std::size_t>(end - first);
    sequence.add(text.subspan(static_cast<std::size_t>(first), size), first);
    first = end;
  };
  for (auto const start : window.starts) add_until(std::min(start, std::ssize(text)));
  add_until(std::ssize(text));
}

}  // namespace spillway
