#include "plan/bound/chunk_choices.hpp"

#include <algorithm>

#include "plan/bound/chunk_amounts.hpp"
#include "plan/bound/chunk_sums.hpp"
#include "plan/bound/routes.hpp"
#include "plan/data/reach.hpp"

namespace spillway {

namespace {

// The gradients, parameters and state of a chunk go their ways independently of each other, but
// meet at the lane that updates the chunk.
class ChunkChoices {
 public:
  ChunkChoices(BoundRows& rows, BoundQuestion const& question, ChunkKind const& kind)
      : m_rows(rows),
        m_question(question),
        m_routes(question),
        m_kind(kind),
        m_chunk(kind.work),
        m_block(kind.block),
        m_all(question, kind) {}

  void add() {
    if (!m_chunk.trainable) return add_frozen();
    std::vector<int> all;
    for (Lane const lane : m_routes.update_lanes()) {
      int const share = m_rows.add_variable();
      all.push_back(share);
      m_updates[lane] = share;
      do_as_the_plan_does({share}, lane, &ChunkPlan::update,
                          lane == Lane::host ? Tier::host : Tier::device);
      auto const& work = m_chunk.update;
      m_rows.spend(share, m_all.update_time,
                   m_all.count * (lane == Lane::host ? work.host : work.compute), m_block);
    }
    m_rows.cover(all, 1);
    for (Lane const lane : m_routes.update_lanes()) {
      add_state(lane);
      add_gradient(lane);
      add_parameters(lane);
    }
    add_sums(m_rows, m_question, {m_kind, m_updates, m_left});
  }

 private:
  // Where there are several micro-batches, places at the turn are averages over all their turns.
  When store_time() const {
    return m_chunk.read_before_turn && m_all.times == 1 ? When::store : When::anytime;
  }
  // Without a commit between them, bytes lie before the update where they lie at the turn.
  std::vector<Tier> at_commit(Tier at_turn) const {
    return m_all.is_awaited ? m_routes.tiers() : std::vector{at_turn};
  }
  When bring_time() const { return m_all.is_awaited ? m_all.update_time : When::anytime; }
  double own(double bytes) const { return bytes / m_all.ranks; }

  void hold(int variable, Moment moment, Tier tier, double bytes) {
    if (moment == Moment::turn || m_all.is_awaited) m_rows.hold(variable, moment, tier, bytes);
  }

  void add_state(Lane lane) {
    double const bytes = own(m_all.state_bytes);
    if (bytes == 0) return;
    std::vector<int> all;
    for (Tier const at_turn : m_routes.tiers()) {
      std::vector<int> of_tier;
      for (Tier const tier : at_commit(at_turn)) {
        int const share = of_tier.emplace_back(all.emplace_back(m_rows.add_variable()));
        hold(share, Moment::turn, at_turn, bytes);
        hold(share, Moment::commit, tier, bytes);
        m_rows.spend(share, When::backward, bytes * m_routes.move(at_turn, tier), m_block);
        m_rows.spend(share, bring_time(), bytes * m_routes.bring(tier, lane), m_block);
        m_rows.spend(share, store_time(), bytes * m_routes.take_back(lane, at_turn), m_block);
      }
      do_as_the_plan_does(of_tier, lane, &ChunkPlan::optimizer, at_turn);
    }
    m_rows.cover(all, 0, m_updates[lane]);
  }

  void add_gradient(Lane lane) {
    double const bytes = own(m_all.gradient_bytes);
    std::vector<int> all;
    if (!m_all.is_awaited) {
      m_rows.spend(m_updates[lane], When::gradient, bytes * m_routes.bring(Tier::device, lane),
                   m_block);
      return;
    }
    for (Tier const tier : m_routes.tiers()) {
      int const share = all.emplace_back(m_rows.add_variable());
      hold(share, Moment::commit, tier, bytes);
      m_rows.spend(share, When::gradient, bytes * m_routes.move(Tier::device, tier), m_block);
      m_rows.spend(share, m_all.update_time, bytes * m_routes.bring(tier, lane), m_block);
      if (tier != Tier::device) m_left.push_back(share);
      do_as_the_plan_does({share}, lane, &ChunkPlan::gradients, tier);
    }
    m_rows.cover(all, 0, m_updates[lane]);
  }

  void add_parameters(Lane lane) {
    std::vector<int> all;
    for (Place const place : places()) {
      Tier const at_turn = place == Place::device_and_host ? Tier::device : tier_of(place);
      std::vector<int> of_place;
      for (Tier const tier : at_commit(at_turn)) {
        int const share = of_place.emplace_back(all.emplace_back(m_rows.add_variable()));
        add_parameter_moves(share, lane, place, tier);
      }
      if (place != Place::device_and_host)
        do_as_the_plan_does(of_place, lane, &ChunkPlan::parameters, at_turn);
    }
    m_rows.cover(all, 0, m_updates[lane]);
  }

  std::vector<Place> places() const {
    std::vector<Place> result;
    for (Tier const tier : m_routes.tiers())
      if (tier == Tier::device || !m_chunk.read_at_turn) result.push_back(static_cast<Place>(tier));
    if (std::ranges::count(m_routes.tiers(), Tier::host) > 0)
      result.push_back(Place::device_and_host);
    return result;
  }
  static Tier tier_of(Place place) { return static_cast<Tier>(place); }

  // Parameters lie in `place` at the turn and in `tier` at the commit, and are updated on `lane`.
  void add_parameter_moves(int share, Lane lane, Place place, Tier tier) {
    double const bytes = own(m_all.parameter_bytes);
    bool const both = place == Place::device_and_host;
    Tier const at_turn = both ? Tier::device : tier_of(place);
    bool const has_host = both || place == Place::host;
    m_rows.hold(share, Moment::turn, at_turn, bytes);
    if (both) m_rows.hold(share, Moment::turn, Tier::host, bytes);
    if (m_chunk.read_backward)
      m_rows.spend(share, When::backward, bytes * m_routes.move(at_turn, Tier::device), m_block);
    if (m_all.is_awaited) {
      hold(share, Moment::commit, tier, bytes);
      // On its way from the drive to the backward pass it comes through host memory.
      bool const is_there =
          (tier == Tier::host && has_host) || (at_turn == Tier::nvme && m_chunk.read_backward);
      bool const comes = m_chunk.read_backward && tier == Tier::device;
      if (!is_there && !comes)
        m_rows.spend(share, When::backward, bytes * m_routes.move(at_turn, tier), m_block);
      m_rows.spend(share, m_all.update_time, bytes * m_routes.bring(tier, lane), m_block);
    }
    if (lane == Lane::host && !(m_routes.unified() && tier != Tier::host))
      m_rows.spend(share, m_all.update_time, bytes * m_routes.move(Tier::host, Tier::device),
                   m_block);
    Tier const home = both ? Tier::host : at_turn;
    m_rows.spend(share, store_time(), bytes * m_routes.take_back(lane, home), m_block);
  }

  void add_frozen() {
    std::vector<int> all;
    for (Tier const tier : m_routes.tiers()) {
      int const share = all.emplace_back(m_rows.add_variable());
      m_rows.hold(share, Moment::turn, tier, own(m_all.parameter_bytes));
      m_rows.spend(share, When::anytime,
                   own(m_all.parameter_bytes) * m_routes.move(tier, Tier::device));
    }
    m_rows.cover(all, 1);
  }

  // Takes away the choice: of what is updated on the lane, the sum of shares is at least that of
  // the plan's chunks that have this tier in this place.
  void do_as_the_plan_does(std::vector<int> const& shares, Lane lane, Tier ChunkPlan::*place,
                           Tier tier) {
    if (m_question.places_of == nullptr) return;
    double alike = 0;
    for (int const c : m_kind.chunks) {
      ChunkPlan const& chunk = m_question.places_of->chunks[c];
      alike += op_lane(chunk.update) == lane && chunk.*place == tier ? 1 : 0;
    }
    if (alike > 0) m_rows.cover(shares, alike / m_all.count);
  }

  BoundRows& m_rows;
  BoundQuestion const& m_question;
  Routes m_routes;
  ChunkKind const& m_kind;
  ChunkWork const& m_chunk;
  int m_block;
  ChunkAmounts m_all;
  PerLane<int> m_updates{};  // for each lane, which share of the chunk it updates
  std::vector<int> m_left;   // which shares of the gradient have left the device by the commit
};

}  // namespace

void add_chunks(BoundRows& rows, BoundQuestion const& question, ChunkKind const& kind) {
  ChunkChoices(rows, question, kind).add();
}

}  // namespace spillway
