#include "plan/bound/step_bound.hpp"

#include <algorithm>
#include <utility>

#include "plan/bound/chunk_choices.hpp"
#include "plan/bound/routes.hpp"
#include "plan/data/words.hpp"

namespace spillway {

namespace {

void add_activations(BoundRows& rows, BoundQuestion const& question, SavedKind const& kind) {
  auto const blocks = static_cast<double>(kind.blocks);
  auto const passes = blocks * static_cast<double>(question.micro_batches);
  // Where there are several micro-batches, shares are averages over all their turns.
  auto const leave_time = question.micro_batches > 1 ? When::anytime : When::store;
  Routes const routes(question);
  std::vector<int> again;
  // Adds the places where results may lie at the turn; some may as well be made again.
  auto const places = [&](std::int64_t bytes, int repeated) {
    std::vector<int> all = {repeated};
    for (Tier const tier : routes.tiers()) {
      int const share = all.emplace_back(rows.add_variable());
      double const one = blocks * static_cast<double>(bytes);
      double const all_turns = passes * static_cast<double>(bytes);
      rows.hold(share, Moment::turn, tier, one);
      rows.spend(share, leave_time, all_turns * routes.move(Tier::device, tier));
      rows.spend(share, When::backward, all_turns * routes.move(tier, Tier::device));
    }
    return all;
  };
  std::vector<std::vector<int>> passed(kind.ops.size());
  for (std::size_t i = 0; i < kind.ops.size(); ++i) {
    ForwardOp const& op = kind.ops[i];
    again.push_back(rows.add_variable());
    rows.spend(again.back(), When::backward, passes * op.again);
    if (op.saved_bytes > 0) rows.cover(places(op.saved_bytes, again.back()), 1);
    for (int const need : op.needs) {
      auto const maker = static_cast<std::size_t>(need);
      if (passed[maker].empty()) passed[maker] = places(kind.ops[maker].passed_bytes, again[maker]);
      rows.cover(passed[maker], 0, again.back());
    }
  }
}

struct ChunkKind {
  ChunkWork work;
  std::int64_t count;
  int block;
};

// Chunks that are alike, and used first in one run of blocks, may be treated as one.
std::vector<ChunkKind> chunk_kinds(BoundRows const& rows, StepWork const& work) {
  std::vector<ChunkKind> result;
  for (ChunkWork const& chunk : work.chunks) {
    auto alike = chunk;
    alike.first_block = rows.cut_of(chunk.first_block);
    auto const found = std::ranges::find(result, alike, &ChunkKind::work);
    if (found != result.end())
      ++found->count;
    else
      result.push_back({alike, 1, chunk.first_block});
  }
  return result;
}

std::string_view words_of(std::size_t part) {
  if (part < kLanes) return words(kLanesInOrder[part]);
  constexpr std::string_view resources[] = {"the cores", "main memory's rate", "the drive's rate"};
  return resources[part - kLanes];
}

std::string limit_text(BoundRows::Answer const& answer) {
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
  for (auto const& kind : chunk_kinds(rows, work))
    add_chunks(rows, question, kind.work, kind.count, kind.block);
  auto const answer = rows.solve();
  return {std::max(0.0, answer.bound_s), limit_text(answer), answer.pivots};
}

}  // namespace spillway
