#include "samples/objectives.hpp"

#include <algorithm>
#include <numeric>

#include "samples/draws.hpp"
#include "samples/span_corruption.hpp"

namespace spillway {
namespace {

// The model predicts kHidden percent of tokens. Of those, kMasked percent are replaced by the mask,
// and the next ones up to kMaskedOrRandom percent by a random token.
constexpr Chance kHidden{15}, kMasked{80}, kMaskedOrRandom{90};

void number_documents(std::span<std::int64_t const> starts, std::span<std::int32_t> documents) {
  std::ranges::fill(documents, 0);
  for (auto const start : starts) {
    if (start < std::ssize(documents)) documents[static_cast<std::size_t>(start)] = 1;
  }
  std::inclusive_scan(documents.begin(), documents.end(), documents.begin());
}

// Numbers the positions of each document from 0.
void number_positions(std::span<std::int32_t const> documents, std::span<std::int32_t> positions) {
  for (std::size_t row = 0; row < positions.size(); ++row) {
    bool const goes_on = row > 0 && documents[row] == documents[row - 1] && documents[row] >= 0;
    positions[row] = goes_on ? positions[row - 1] + 1 : 0;
  }
}

void predict_next(Window const& window, BatchBuffers const& to) {
  auto const rows = window.tokens.size() - 1;
  std::ranges::copy(window.tokens.first(rows), to.get<BatchField::tokens>().begin());
  std::ranges::copy(window.tokens.last(rows), to.get<BatchField::targets>().begin());
  number_documents(window.starts, to.get<BatchField::documents>());
  auto const weights = to.get<BatchField::weights>();
  std::ranges::fill(weights, 1.0f);
  // A weight is that of the token which is predicted.
  if (!window.learned.empty()) std::ranges::copy(window.learned.last(rows), weights.begin());
  // The last token of a document does not tell which document follows, so it has no target.
  for (auto const start : window.starts) weights[static_cast<std::size_t>(start - 1)] = 0;
}

std::int32_t hidden(Recipe const& recipe, std::int32_t token, PhiloxBlock const& draws) {
  if (kMasked.happens(draws.x[1])) return recipe.ids.mask;
  return kMaskedOrRandom.happens(draws.x[1]) ? below(recipe.words, draws.x[2]) : token;
}

void predict_masked(Recipe const& recipe, Window const& window, std::int64_t sample,
                    BatchBuffers const& to) {
  auto const tokens = to.get<BatchField::tokens>(), targets = to.get<BatchField::targets>();
  auto const weights = to.get<BatchField::weights>();
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    auto const token = window.tokens[row];
    auto const draws = draw(recipe.seed, sample, static_cast<std::int64_t>(row));
    bool const special = token == recipe.ids.mask || token == recipe.ids.eos;
    bool const hides = !special && kHidden.happens(draws.x[0]);
    tokens[row] = hides ? hidden(recipe, token, draws) : token;
    targets[row] = token;
    weights[row] = hides ? 1.0f : 0.0f;
  }
  number_documents(window.starts, to.get<BatchField::documents>());
}

}  // namespace

void make_padding(Recipe const& recipe, BatchBuffers const& to) {
  for (int stack = 0; stack < static_cast<int>(recipe.lengths.size()); ++stack) {
    std::ranges::fill(to.get<BatchField::tokens>(stack), recipe.ids.pad);
    std::ranges::fill(to.get<BatchField::documents>(stack), -1);
    std::ranges::fill(to.get<BatchField::positions>(stack), 0);
    std::ranges::fill(to.get<BatchField::token_types>(stack), 0);
    std::ranges::fill(to.get<BatchField::targets>(stack), recipe.ids.pad);
    std::ranges::fill(to.get<BatchField::weights>(stack), 0.0f);
  }
}

void make_sequence(Recipe const& recipe, Window const& window, std::int64_t sample,
                   BatchBuffers const& to) {
  make_padding(recipe, to);
  switch (recipe.objective) {
    case Objective::next:
      predict_next(window, to);
      break;
    case Objective::masked:
      predict_masked(recipe, window, sample, to);
      break;
    case Objective::spans:
      predict_spans(recipe, window, sample, to);
      break;
  }
  for (int stack = 0; stack < static_cast<int>(recipe.lengths.size()); ++stack)
    number_positions(to.get<BatchField::documents>(stack), to.get<BatchField::positions>(stack));
}

}  // namespace spillway
