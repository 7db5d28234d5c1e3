#include "plan/bound/routes.hpp"

#include "plan/data/reach.hpp"

namespace spillway {

Routes::Routes(BoundQuestion const& question)
    : m_unified(question.machine.is_unified()),
      m_update_lanes{Lane::compute},
      m_send(send_of_byte(question.ranks, question.machine)) {
  for (Tier const tier : kTiersInOrder)
    if (has_tier(question.budgets, tier)) m_tiers.push_back(tier);
  if (m_unified || has_tier(question.budgets, Tier::host)) m_update_lanes.push_back(Lane::host);
  for (Lane const lane : {Lane::h2d, Lane::d2h, Lane::nvme_read, Lane::nvme_write})
    m_copy[lane] = copy_of_byte(lane, question.machine);
}

Busy Routes::move(Tier from, Tier to) const {
  if (from == to) return {};
  auto const stop = first_stop(from, to, m_unified);
  auto result = m_copy[copy_lane(from, stop)];
  add(result, move(stop, to));
  return result;
}

Busy Routes::bring(Tier from, Lane lane) const {
  if (reaches(lane, from, m_unified)) return {};
  return move(from, workplace(lane, m_unified));
}

// In unified memory a lane that reaches two tiers may have had the bytes in either.
Busy Routes::take_back(Lane lane, Tier to) const {
  if (reaches(lane, to, m_unified)) return {};
  return move(workplace(lane, m_unified), to);
}

}  // namespace spillway
