#include "plan/bound/chunk_choices.hpp"

#include <algorithm>

#include "plan/bound/routes.hpp"

namespace spillway {

namespace {

// The gradients, parameters and state of a chunk go their ways independently of each other, but
// meet at the lane that updates the chunk.
class ChunkChoices {
 public:
  ChunkChoices(BoundRows& rows, BoundQuestion const& question, ChunkWork const& chunk,
               std::int64_t count, int block)
      : m_rows(rows),
        m_routes(question),
        m_chunk(chunk),
        m_block(block),
        m_is_awaited(question.norm_is_awaited),
        m_times(static_cast<double>(question.micro_batches)),
        m_ranks(static_cast<double>(question.ranks)),
        m_count(static_cast<double>(count)),
        m_parameter_bytes(m_count * static_cast<double>(chunk.parameter_bytes)),
        m_gradient_bytes(m_count * static_cast<double>(chunk.gradient_bytes)),
        m_state_bytes(m_count * static_cast<double>(chunk.state_bytes)) {}

  void add() {
    if (!m_chunk.trainable) return add_frozen();
    std::vector<int> all;
    for (Lane const lane : m_routes.update_lanes()) {
      int const share = m_rows.add_variable();
      all.push_back(share);
      m_updates[lane] = share;
      auto const& work = m_chunk.update;
      m_rows.spend(share, update_time(), m_count * (lane == Lane::host ? work.host : work.compute),
                   m_block);
    }
    m_rows.cover(all, 1);
    for (Lane const lane : m_routes.update_lanes()) {
      add_state(lane);
      add_gradient(lane);
      add_parameters(lane);
    }
    add_norm();
    add_sums();
    if (m_ranks > 1) add_exchange();
  }

 private:
  // Chunks that are read only behind the turn may be updated behind it.
  When update_time() const { return m_chunk.read_before_turn ? When::update : When::anytime; }
  // Where there are several micro-batches, places at the turn are averages over all their turns.
  When store_time() const {
    return m_chunk.read_before_turn && m_times == 1 ? When::store : When::anytime;
  }
  // Without a commit between them, bytes lie before the update where they lie at the turn.
  std::vector<Tier> at_commit(Tier at_turn) const {
    return m_is_awaited ? m_routes.tiers() : std::vector{at_turn};
  }
  When bring_time() const { return m_is_awaited ? update_time() : When::anytime; }
  double own(double bytes) const { return bytes / m_ranks; }

  void hold(int variable, Moment moment, Tier tier, double bytes) {
    if (moment == Moment::turn || m_is_awaited) m_rows.hold(variable, moment, tier, bytes);
  }

  void add_state(Lane lane) {
    double const bytes = own(m_state_bytes);
    if (bytes == 0) return;
    std::vector<int> all;
    for (Tier const at_turn : m_routes.tiers()) {
      for (Tier const tier : at_commit(at_turn)) {
        int const share = all.emplace_back(m_rows.add_variable());
        hold(share, Moment::turn, at_turn, bytes);
        hold(share, Moment::commit, tier, bytes);
        m_rows.spend(share, When::backward, bytes * m_routes.move(at_turn, tier), m_block);
        m_rows.spend(share, bring_time(), bytes * m_routes.bring(tier, lane), m_block);
        m_rows.spend(share, store_time(), bytes * m_routes.take_back(lane, at_turn), m_block);
      }
    }
    m_rows.cover(all, 0, m_updates[lane]);
  }

  void add_gradient(Lane lane) {
    double const bytes = own(m_gradient_bytes);
    std::vector<int> all;
    if (!m_is_awaited) {
      m_rows.spend(m_updates[lane], When::gradient, bytes * m_routes.bring(Tier::device, lane),
                   m_block);
      return;
    }
    for (Tier const tier : m_routes.tiers()) {
      int const share = all.emplace_back(m_rows.add_variable());
      hold(share, Moment::commit, tier, bytes);
      m_rows.spend(share, When::gradient, bytes * m_routes.move(Tier::device, tier), m_block);
      m_rows.spend(share, update_time(), bytes * m_routes.bring(tier, lane), m_block);
      if (tier != Tier::device) m_left.push_back(share);
    }
    m_rows.cover(all, 0, m_updates[lane]);
  }

  void add_parameters(Lane lane) {
    std::vector<int> all;
    for (Place const place : places()) {
      Tier const at_turn = place == Place::device_and_host ? Tier::device : tier_of(place);
      for (Tier const tier : at_commit(at_turn)) {
        int const share = all.emplace_back(m_rows.add_variable());
        add_parameter_moves(share, lane, place, tier);
      }
    }
    m_rows.cover(all, 0, m_updates[lane]);
  }

  std::vector<Place> places() const {
    std::vector<Place> result;
    for (Tier const tier : m_routes.tiers()) result.push_back(static_cast<Place>(tier));
    if (std::ranges::count(m_routes.tiers(), Tier::host) > 0)
      result.push_back(Place::device_and_host);
    return result;
  }
  static Tier tier_of(Place place) { return static_cast<Tier>(place); }

  // Parameters lie in `place` at the turn and in `tier` at the commit, and are updated on `lane`.
  void add_parameter_moves(int share, Lane lane, Place place, Tier tier) {
    double const bytes = own(m_parameter_bytes);
    bool const both = place == Place::device_and_host;
    Tier const at_turn = both ? Tier::device : tier_of(place);
    bool const has_host = both || place == Place::host;
    m_rows.hold(share, Moment::turn, at_turn, bytes);
    if (both) m_rows.hold(share, Moment::turn, Tier::host, bytes);
    if (m_chunk.read_backward)
      m_rows.spend(share, When::backward, bytes * m_routes.move(at_turn, Tier::device), m_block);
    if (m_is_awaited) {
      hold(share, Moment::commit, tier, bytes);
      bool const is_there =
          (tier == Tier::host && has_host) || (at_turn == Tier::nvme && m_chunk.read_backward);
      bool const comes = m_chunk.read_backward && tier == Tier::device;
      if (!is_there && !comes)
        m_rows.spend(share, When::backward, bytes * m_routes.move(at_turn, tier), m_block);
      m_rows.spend(share, update_time(), bytes * m_routes.bring(tier, lane), m_block);
    }
    if (lane == Lane::host && !(m_routes.unified() && tier != Tier::host))
      m_rows.spend(share, update_time(), bytes * m_routes.move(Tier::host, Tier::device), m_block);
    Tier const home = both ? Tier::host : at_turn;
    m_rows.spend(share, store_time(), bytes * m_routes.take_back(lane, home), m_block);
  }

  // The norm is taken where the gradient is made or where it lies at the commit.
  void add_norm() {
    auto const when = m_is_awaited ? When::gradient : When::backward;
    int const here = m_rows.add_variable();
    m_rows.spend(here, when, m_count * m_chunk.norm.compute, m_block);
    std::vector<int> all = {here};
    if (m_routes.update_lanes().size() > 1) {
      int const there = all.emplace_back(m_rows.add_variable());
      m_rows.spend(there, when, m_count * m_chunk.norm.host, m_block);
      if (!m_routes.unified() && m_is_awaited) m_rows.cover(m_left, 0, there);
    }
    m_rows.cover(all, 1);
  }

  // The sum over micro-batches; if the host adds, the gradients of all of them go there.
  void add_sums() {
    if (m_times == 1) return;
    double const sums = m_count * (m_times - 1);
    int const here = m_rows.add_variable();
    m_rows.spend(here, When::backward, sums * m_chunk.accumulate.compute);
    std::vector<int> all = {here};
    if (m_routes.update_lanes().size() > 1) {
      int const there = all.emplace_back(m_rows.add_variable());
      m_rows.spend(there, When::backward, sums * m_chunk.accumulate.host);
      if (!m_routes.unified())
        m_rows.spend(
            there, When::backward,
            (m_times - 1) * own(m_gradient_bytes) * m_routes.move(Tier::device, Tier::host));
    }
    m_rows.cover(all, 1);
  }

  // Each rank sends its part of each other rank's slice, and receives sums or new parameters.
  void add_exchange() {
    double const others = (m_ranks - 1) / m_ranks;
    int const sent = m_rows.add_variable();
    double const fewest = std::min(m_gradient_bytes, m_parameter_bytes);
    m_rows.spend(sent, When::gradient, others * m_gradient_bytes * m_routes.send(), m_block);
    m_rows.spend(sent, When::anytime, others * fewest * m_routes.send());
    if (!m_routes.unified()) {
      m_rows.spend(sent, When::gradient,
                   others * m_gradient_bytes * m_routes.move(Tier::device, Tier::host), m_block);
      m_rows.spend(sent, When::anytime, others * fewest * m_routes.move(Tier::host, Tier::device));
    }
    m_rows.cover({sent}, 1);
    add_tree_sum();
  }

  void add_tree_sum() {
    std::vector<int> all;
    for (Lane const lane : m_routes.update_lanes()) {
      auto const& work = m_chunk.tree_sum;
      m_rows.spend(all.emplace_back(m_rows.add_variable()), When::gradient,
                   m_count * (lane == Lane::host ? work.host : work.compute), m_block);
    }
    m_rows.cover(all, 1);
  }

  void add_frozen() {
    std::vector<int> all;
    for (Tier const tier : m_routes.tiers()) {
      int const share = all.emplace_back(m_rows.add_variable());
      m_rows.hold(share, Moment::turn, tier, own(m_parameter_bytes));
      m_rows.spend(share, When::anytime,
                   own(m_parameter_bytes) * m_routes.move(tier, Tier::device));
    }
    m_rows.cover(all, 1);
  }

  BoundRows& m_rows;
  Routes m_routes;
  ChunkWork const& m_chunk;
  int m_block;
  bool m_is_awaited;
  double m_times, m_ranks, m_count, m_parameter_bytes, m_gradient_bytes, m_state_bytes;
  PerLane<int> m_updates{};  // for each lane, which share of the chunk it updates
  std::vector<int> m_left;   // which shares of the gradient have left the device by the commit
};

}  // namespace

void add_chunks(BoundRows& rows, BoundQuestion const& question, ChunkWork const& chunk,
                std::int64_t count, int block) {
  ChunkChoices(rows, question, chunk, count, block).add();
}

}  // namespace spillway
