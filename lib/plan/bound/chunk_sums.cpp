#include "plan/bound/chunk_sums.hpp"

#include <algorithm>

#include "plan/bound/chunk_amounts.hpp"
#include "plan/bound/routes.hpp"

namespace spillway {

namespace {

class ChunkSums {
 public:
  ChunkSums(BoundRows& rows, BoundQuestion const& question, SummedChunks const& chunks)
      : m_rows(rows),
        m_routes(question),
        m_chunk(chunks.kind.work),
        m_updates(chunks.updates),
        m_left(chunks.left),
        m_block(chunks.kind.block),
        m_all(question, chunks.kind) {}

  void add() {
    add_norm();
    add_micro_batches();
    if (m_all.ranks > 1) add_exchange();
  }

 private:
  // The norm is taken where the gradient is made or where it lies at the commit.
  void add_norm() {
    auto const when = m_all.is_awaited ? When::gradient : When::backward;
    int const here = m_rows.add_variable();
    m_rows.spend(here, when, m_all.count * m_chunk.norm.compute, m_block);
    std::vector<int> all = {here};
    if (m_routes.update_lanes().size() > 1) {
      int const there = all.emplace_back(m_rows.add_variable());
      m_rows.spend(there, when, m_all.count * m_chunk.norm.host, m_block);
      if (!m_routes.unified() && m_all.is_awaited) m_rows.cover(m_left, 0, there);
    }
    m_rows.cover(all, 1);
  }

  // The sum over micro-batches; if the host adds, the gradients of all of them go there.
  void add_micro_batches() {
    if (m_all.times == 1) return;
    double const sums = m_all.count * (m_all.times - 1);
    int const here = m_rows.add_variable();
    m_rows.spend(here, When::backward, sums * m_chunk.accumulate.compute);
    std::vector<int> all = {here};
    if (m_routes.update_lanes().size() > 1) {
      int const there = all.emplace_back(m_rows.add_variable());
      m_rows.spend(there, When::backward, sums * m_chunk.accumulate.host);
      if (!m_routes.unified())
        m_rows.spend(there, When::backward,
                     (m_all.times - 1) * m_all.gradient_bytes / m_all.ranks *
                         m_routes.move(Tier::device, Tier::host));
    }
    m_rows.cover(all, 1);
  }

  // Each rank sends its part of each other rank's slice. The comm lane reaches main memory alone.
  void add_exchange() {
    double const gradients = others() * m_all.gradient_bytes;
    int const sent = m_rows.add_variable();
    m_rows.spend(sent, When::gradient, gradients * m_routes.send(), m_block);
    if (!m_routes.unified())
      m_rows.spend(sent, When::gradient, gradients * m_routes.move(Tier::device, Tier::host),
                   m_block);
    m_rows.cover({sent}, 1);
    add_tree_sum();
    for (Lane const lane : m_routes.update_lanes()) add_update_of_others(lane);
    if (m_chunk.read_backward) add_parameters_of_others(others() * m_all.parameter_bytes);
  }
  double others() const { return (m_all.ranks - 1) / m_all.ranks; }

  // A rank receives either what other ranks have updated, before it is used, or their sums of
  // gradients, to update all by itself. Parts of a chunk may differ in that, as if fewer ranks than
  // all shared it out.
  void add_update_of_others(Lane lane) {
    auto const sum_time = m_all.is_awaited ? When::anytime : When::gradient;
    double const parameters = others() * m_all.parameter_bytes,
                 sums = others() * m_all.gradient_bytes;
    bool const host = lane == Lane::host;
    int const gathers = m_rows.add_variable(), updates_all = m_rows.add_variable();
    m_rows.cover({gathers, updates_all}, 0, m_updates[lane]);
    m_rows.spend(gathers, m_all.update_time, parameters * m_routes.send(), m_block);
    m_rows.spend(updates_all, sum_time, sums * m_routes.send(), m_block);
    auto const& own = host ? m_chunk.update.host : m_chunk.update.compute;
    m_rows.spend(updates_all, m_all.update_time, (m_all.ranks - 1) * m_all.count * own, m_block);
    if (m_routes.unified()) return;
    auto const come = m_routes.move(Tier::host, Tier::device);
    m_rows.spend(gathers, m_all.update_time, parameters * come, m_block);
    if (host)
      m_rows.spend(updates_all, m_all.update_time, parameters * come, m_block);
    else
      m_rows.spend(updates_all, sum_time, sums * come, m_block);
  }

  // What other ranks update lies somewhere at the turn, too, or is gathered again.
  void add_parameters_of_others(double bytes) {
    int const again = m_rows.add_variable();
    std::vector<int> all = {again};
    m_rows.spend(again, When::backward, bytes * m_routes.send());
    if (!m_routes.unified())
      m_rows.spend(again, When::backward, bytes * m_routes.move(Tier::host, Tier::device));
    for (Tier const tier : m_routes.tiers()) {
      int const share = all.emplace_back(m_rows.add_variable());
      m_rows.hold(share, Moment::turn, tier, bytes);
      m_rows.spend(share, When::backward, bytes * m_routes.move(tier, Tier::device));
    }
    m_rows.cover(all, 1);
  }

  void add_tree_sum() {
    std::vector<int> all;
    for (Lane const lane : m_routes.update_lanes()) {
      auto const& work = m_chunk.tree_sum;
      m_rows.spend(all.emplace_back(m_rows.add_variable()), When::gradient,
                   m_all.count * (lane == Lane::host ? work.host : work.compute), m_block);
    }
    m_rows.cover(all, 1);
  }

  BoundRows& m_rows;
  Routes m_routes;
  ChunkWork const& m_chunk;
  PerLane<int> const& m_updates;
  std::vector<int> const& m_left;
  int m_block;
  ChunkAmounts m_all;
};

}  // namespace

void add_sums(BoundRows& rows, BoundQuestion const& question, SummedChunks const& chunks) {
  ChunkSums(rows, question, chunks).add();
}

}  // namespace spillway
