#include "plan/search/starts.hpp"

#include <algorithm>
#include <optional>

namespace spillway {
namespace {

class Starts {
 public:
  explicit Starts(PlanQuestion const& question)
      : m_question(question), m_request(question.request) {}

  std::vector<PlanRequest> all() {
    for (PlaceRow const& row : kPlaceTable) {
      for (Tier const tier : kTiersInOrder)
        if (may_be_in(row, tier)) decide(row.asked, tier);
    }
    using enum BlockPolicy;
    for (BlockPolicy const policy : {keep, light, recompute, host}) {
      if (allows(m_question.budgets, policy)) decide(&AskedPlan::activations, BlockPlan{policy, 1});
    }
    for (Shard const shard : kShards)
      if (may_share_out_all(shard)) decide(&AskedPlan::shard, shard);
    for (std::int64_t const group : {1, 2, 4})
      if (group <= m_question.micro_batches) decide(&AskedPlan::group, group);
    for (std::int64_t const prefetch : {1, 2}) decide(&AskedPlan::prefetch, prefetch);
    return std::move(m_all);
  }

 private:
  // Whether gradients lie on the drive is decided for all searches alike.
  bool may_be_in(PlaceRow const& row, Tier tier) const {
    if (tier == Tier::device) return true;
    if (tier == Tier::nvme && (!row.nvme || row.place == &ChunkPlan::gradients)) return false;
    return has_tier(m_question.budgets, tier);
  }

  bool may_share_out_all(Shard shard) const {
    auto const& train = m_question.train;
    auto const may = [&](Chunk const& chunk) { return may_share_out(train, chunk.id); };
    return m_question.ranks > 1 && (shard != Shard::all || m_question.may_gather()) &&
           std::ranges::all_of(train.chunks, may);
  }

  template <class T>
  void decide(Asked<T> AskedPlan::*key, T const& value) {
    auto request = m_request;
    for (auto& entry : request.*key)
      if (!entry) entry = value;
    if (request.*key != m_request.*key) m_all.push_back(std::move(request));
  }

  void decide(std::optional<std::int64_t> AskedPlan::*key, std::int64_t value) {
    if (m_request.*key) return;
    m_all.push_back(m_request);
    m_all.back().*key = value;
  }

  PlanQuestion const& m_question;
  PlanRequest const& m_request;
  std::vector<PlanRequest> m_all;
};

}  // namespace

std::vector<PlanRequest> with_one_key_decided(PlanQuestion const& question) {
  return Starts(question).all();
}

}  // namespace spillway
