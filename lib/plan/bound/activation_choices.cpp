#include "plan/bound/activation_choices.hpp"

#include <algorithm>

#include "plan/bound/routes.hpp"
#include "plan/schedule/fates.hpp"

namespace spillway {

namespace {

class ActivationChoices {
 public:
  ActivationChoices(BoundRows& rows, BoundQuestion const& question, SavedKind const& kind)
      : m_rows(rows),
        m_question(question),
        m_kind(kind),
        m_routes(question),
        m_blocks(static_cast<double>(kind.blocks.size())),
        m_passes(m_blocks * static_cast<double>(question.micro_batches)) {
    if (question.activations_of != nullptr)
      m_fates = decide_fates(question.train, *question.activations_of);
  }

  void add() {
    std::vector<std::vector<int>> passed(m_kind.ops.size());
    for (ForwardOp const& op : m_kind.ops) {
      int const again = m_again.emplace_back(m_rows.add_variable());
      m_rows.spend(again, When::backward, m_passes * op.again);
      if (op.saved_bytes > 0) {
        auto const all = places(op.saved_bytes, again);
        m_rows.cover(all, 1);
        if (m_question.activations_of != nullptr) do_as_the_plan_does(op, all);
      }
      for (int const need : op.needs) {
        auto const maker = static_cast<std::size_t>(need);
        auto& of_maker = passed[maker];
        if (of_maker.empty()) of_maker = places(m_kind.ops[maker].passed_bytes, m_again[maker]);
        m_rows.cover(of_maker, 0, again);
      }
    }
  }

 private:
  // Adds the places where results may lie at the turn; some may as well be made again. Where there
  // are several micro-batches, shares are averages over all their turns.
  std::vector<int> places(std::int64_t bytes, int again) {
    bool const after_commit = m_rows.forward_time() == When::update;
    auto const leave_time =
        after_commit && m_question.micro_batches == 1 ? When::store : When::anytime;
    double const at_turn = m_blocks * static_cast<double>(bytes);
    double const in_step = m_passes * static_cast<double>(bytes);
    std::vector<int> all = {again};
    for (Tier const tier : m_routes.tiers()) {
      int const share = all.emplace_back(m_rows.add_variable());
      m_rows.hold(share, Moment::turn, tier, at_turn);
      m_rows.spend(share, leave_time, in_step * m_routes.move(Tier::device, tier));
      m_rows.spend(share, When::backward, in_step * m_routes.move(tier, Tier::device));
    }
    return all;
  }

  // Takes away the choice: of what the op saves, shares are at least those of the plan.
  void do_as_the_plan_does(ForwardOp const& op, std::vector<int> const& shares) {
    std::vector<double> bytes(shares.size(), 0);
    for (int const b : m_kind.blocks) {
      for (View const& view :
           present(m_question.train.op(m_question.train.blocks[b].first_op + op.place).outputs)) {
        if (!m_fates.saved(view.tensor)) continue;
        auto const all = m_question.train.tensor(view).bytes();
        auto const away = m_fates.away_bytes[view.tensor];
        bool const again = m_fates.of(view.tensor) == Fate::recompute;
        bytes[again ? 0 : 1] += static_cast<double>(all - away);
        for (std::size_t i = 0; i < m_routes.tiers().size(); ++i)
          if (m_fates.leaves(view.tensor) && m_routes.tiers()[i] == away_tier_of(view.tensor))
            bytes[1 + i] += static_cast<double>(away);
      }
    }
    double const all = m_blocks * static_cast<double>(op.saved_bytes);
    for (std::size_t i = 0; i < shares.size(); ++i)
      if (bytes[i] > 0) m_rows.cover({shares[i]}, std::min(1.0, bytes[i] / all));
  }
  Tier away_tier_of(TensorId tensor) const {
    return m_fates.of(tensor) == Fate::host ? Tier::host : Tier::nvme;
  }

  BoundRows& m_rows;
  BoundQuestion const& m_question;
  SavedKind const& m_kind;
  Routes m_routes;
  double m_blocks, m_passes;
  Fates m_fates;
  std::vector<int> m_again;  // for each op, which share of its runs is repeated
};

}  // namespace

void add_activations(BoundRows& rows, BoundQuestion const& question, SavedKind const& kind) {
  ActivationChoices(rows, question, kind).add();
}

}  // namespace spillway
