#include "samples/recipe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "huggingface/imported_config.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "io/tokens/token_format.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kFewestSentinels = 100;  // as T5 has; long sequences may need more

std::int64_t window_of(Objective objective, std::vector<std::int64_t> const& lengths) {
  return objective == Objective::spans ? span_window(lengths[0], lengths[1]) : lengths[0];
}

// Hands out ids of a vocabulary, the highest first.
class Ids {
 public:
  explicit Ids(std::int64_t vocab) : m_vocab(vocab), m_left(vocab) {}

  // Returns the highest of `count` consecutive ids. It is `given` or, without that, the highest id
  // that is left. Throws Error(bad_input) if the vocabulary does not have all of these ids.
  std::int32_t take(std::optional<std::int64_t> const& given, char const* key,
                    std::int64_t count = 1) {
    auto const highest = given.value_or(m_left - 1);
    if (!given) m_left -= count;
    if (highest >= m_vocab || highest < count - 1) {
      throw Error(Status::bad_input,
                  fmt::format("{}: ids {} to {} are not in a vocabulary of {}; {}", key,
                              highest - count + 1, highest, m_vocab,
                              given ? advice(*given) : "give a larger model.vocab"));
    }
    return static_cast<std::int32_t>(highest);
  }
  std::int64_t left() const { return m_left; }

 private:
  std::string advice(std::int64_t given) const {
    if (given >= m_vocab) return fmt::format("give an id below {}", m_vocab);
    return "give a higher id or a shorter data.sequence, which has fewer spans";
  }

  std::int64_t m_vocab, m_left;
};

// Takes the ids that the objective needs. Others stay absent.
SpecialIds take_special(DataConfig const& data, Objective objective, std::int64_t sentinels,
                        Ids& ids) {
  SpecialIds special;
  if (objective == Objective::masked) special.mask = ids.take(data.mask_id, "data.mask_id");
  if (objective == Objective::spans) {
    special.first_sentinel = ids.take(data.sentinel_id, "data.sentinel_id", sentinels);
    special.sentinels = static_cast<std::int32_t>(
        std::min<std::int64_t>(std::max(sentinels, kFewestSentinels), special.first_sentinel + 1));
    special.pad = ids.take(data.pad_id, "data.pad_id");
  }
  if (data.eos_id) special.eos = ids.take(data.eos_id, "data.eos_id");
  return special;
}

std::int64_t sentinels_of(DataConfig const& data, std::int64_t window) {
  auto const most = window < 2 ? 0 : span_counts(window).spans;
  return data.sentinel_id ? most : std::max(most, kFewestSentinels);
}

// Throws unless special tokens have different ids. Sequences use only the first `sentinels`
// sentinels.
void require_apart(SpecialIds const& ids, std::int64_t sentinels) {
  struct Named {
    char const* key;
    std::int64_t first, last;
  };
  std::vector<Named> named = {{"data.mask_id", ids.mask, ids.mask},
                              {"data.eos_id", ids.eos, ids.eos}};
  if (ids.first_sentinel >= 0) {
    named.push_back({"data.pad_id", ids.pad, ids.pad});
    named.push_back({"data.sentinel_id", ids.first_sentinel - sentinels + 1, ids.first_sentinel});
  }
  for (auto one = named.begin(); one != named.end(); ++one)
    for (auto other = one + 1; other != named.end(); ++other)
      if (one->last >= 0 && one->first <= other->last && other->first <= one->last)
        throw Error(Status::bad_input,
                    fmt::format("{}: id {} is of {} too; give the id that it has in the model's "
                                "tokenizer",
                                other->key, std::max(one->first, other->first), one->key));
}

void require_given(std::optional<std::int64_t> const& id, char const* key, char const* token) {
  if (id) return;
  throw Error(Status::bad_input,
              fmt::format("{}: auto is not for weights that were imported; give the id of {} in "
                          "the model's tokenizer",
                          key, token));
}

}  // namespace

void require_own_ids(DataConfig const& data, Objective objective) {
  if (objective == Objective::masked) require_given(data.mask_id, "data.mask_id", "[MASK]");
  if (objective != Objective::spans) return;
  require_given(data.pad_id, "data.pad_id", "<pad>");
  require_given(data.sentinel_id, "data.sentinel_id", "<extra_id_0>");
}

std::int64_t special_count(DataConfig const& data, Objective objective) {
  auto const window = window_of(objective, stack_lengths(data, objective));
  Ids ids(kMostVocab);
  take_special(data, objective, sentinels_of(data, window), ids);
  return kMostVocab - ids.left();
}

Recipe recipe_of(Config const& config, Objective objective, std::int64_t vocab,
                 std::string_view tokenizer) {
  if (tokenizer == kOwnTokenizer) require_own_ids(config.data, objective);
  Recipe recipe{.objective = objective, .pack = config.data.pack};
  recipe.lengths = stack_lengths(config.data, objective);
  recipe.window = window_of(objective, recipe.lengths);
  recipe.seed = config.run.seed;
  Ids ids(vocab);
  recipe.ids = take_special(config.data, objective, sentinels_of(config.data, recipe.window), ids);
  recipe.words = ids.left();
  bool const separates = tokenizer == kByteTokenizer && recipe.words > byte_separator;
  if (separates && !config.data.eos_id) recipe.ids.eos = byte_separator;
  require_apart(recipe.ids, sentinels_of(config.data, recipe.window));
  return recipe;
}

}  // namespace spillway
