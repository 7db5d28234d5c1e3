#include "plan/bound/step_bound.hpp"

#include <algorithm>
#include <utility>

#include "plan/bound/activation_choices.hpp"
#include "plan/bound/chunk_choices.hpp"
#include "plan/data/words.hpp"

namespace spillway {

namespace {

// Chunks that are alike, and used first in one run of blocks, may be treated as one.
std::vector<ChunkKind> chunk_kinds(BoundRows const& rows, StepWork const& work) {
  std::vector<ChunkKind> result;
  for (int number = 0; ChunkWork const& chunk : work.chunks) {
    auto alike = chunk;
    alike.first_block = rows.cut_of(chunk.first_block);
    auto const found = std::ranges::find(result, alike, &ChunkKind::work);
    if (found != result.end())
      found->chunks.push_back(number);
    else
      result.push_back({alike, {number}, chunk.first_block});
    ++number;
  }
  return result;
}

std::string_view words_of(std::size_t part) {
  if (part < kLanes) return words(kLanesInOrder[part]);
  constexpr std::string_view resources[] = {"the cores", "main memory's rate", "the drive's rate"};
  static_assert(std::size(resources) == kBusyParts - kLanes);
  return resources[part - kLanes];
}

std::string limit_text(BoundRows::Answer const& answer) {
  if (answer.bound_s <= 0) return "";
  auto const most = std::ranges::max_element(answer.parts);
  std::string text(words_of(static_cast<std::size_t>(most - answer.parts.begin())));
  std::string_view before = ", with full ";
  for (Tier const tier : kTiersInOrder) {
    if (!answer.full[tier]) continue;
    text.append(before).append(words(tier));
    before = " and ";
  }
  return text;
}

}  // namespace

StepBound step_bound(BoundQuestion const& question) {
  auto const work =
      step_work(question.train, question.machine, question.micro_batches, question.ranks);
  BoundRows rows(question, work);
  for (SavedKind const& kind : work.saved) add_activations(rows, question, kind);
  for (ChunkKind const& kind : chunk_kinds(rows, work)) add_chunks(rows, question, kind);
  auto const answer = rows.solve();
  return {std::max(0.0, answer.bound_s), limit_text(answer), {}};
}

StepBound step_bound(BoundQuestion question, Plan const& plan, double step_s) {
  auto result = step_bound(question);
  question.places_of = &plan;
  double const any_s = std::min(result.step_s, step_s);
  double const places_s = std::clamp(step_bound(question).step_s, any_s, step_s);
  question.activations_of = &plan;
  double const both_s = std::clamp(step_bound(question).step_s, places_s, step_s);
  result.gap = {places_s - any_s, both_s - places_s, step_s - both_s};
  return result;
}

}  // namespace spillway
