// BoundRows are the rows of a CoverProblem that say how long a step lasts at least, and how many
// bytes each tier has room for at two of its moments.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "plan/bound/cover_problem.hpp"
#include "plan/bound/step_work.hpp"
#include "plan/data/budgets.hpp"

namespace spillway {

struct BoundQuestion {
  Graph const& train;
  Machine const& machine;
  Budgets budgets;
  std::int64_t micro_batches, ranks;
  bool norm_is_awaited;  // whether updates wait for the norm of all gradients
  // If these are not null, the bound is about plans that lay chunks, or treat activations, like
  // these plans.
  Plan const* places_of = nullptr;
  Plan const* activations_of = nullptr;
};

// A step begins with the commit of the step before or, if no norm is awaited, anywhere. Then comes
// the turn of the micro-batch that turns first, then the step's own commit.
enum class When : std::uint8_t {
  anytime,
  update,    // between commit and turn, before the first use of a chunk in the step
  store,     // between commit and turn
  backward,  // between turn and commit
  gradient,  // between turn and commit, after a chunk's gradient is complete
};
enum class Moment : std::uint8_t { turn, commit };

// A Cut parts the blocks of a model into those up to it and those behind.
struct Cut {
  int last_block;
};

class BoundRows {
 public:
  BoundRows(BoundQuestion const& question, StepWork const& work);

  int add_variable() { return m_problem.add_variable(0, 1); }
  // Adds a row that says that `covering` are together at least `least` plus `covered`.
  void cover(std::vector<int> const& covering, double least, int covered = -1);
  // A unit of the variable means such work at that time. `block` is the one whose chunk is meant.
  void spend(int variable, When when, Busy const& busy, int block = 0);
  // A unit of the variable means so many bytes in the tier at that moment.
  void hold(int variable, Moment moment, Tier tier, double bytes);
  // Adds work that any plan must do.
  void need(When when, Busy const& busy);

  // Says when the forward pass of the micro-batch that turns first runs. What reads nothing that is
  // trained need not wait for the commit.
  When forward_time() const { return m_work.begins_with_trained ? When::update : When::anytime; }

  // Divides blocks into few runs, at whose ends cuts lie; chunks of one run may be treated alike.
  int cut_of(int block) const;

  struct Answer {
    double bound_s = 0;
    // These say how much of the bound each lane or resource makes out, and whether more of a tier's
    // bytes would make it less.
    Busy parts{};
    PerTier<bool> full{};
  };
  Answer solve() const;

 private:
  enum class Row : std::uint8_t { step, update, backward, cut_update, cut_step, cut_backward };
  int row(Row kind, std::size_t part, int cut = -1);
  double passes_s(Row kind, int cut) const;
  void charge(Row kind, int variable, Busy const& busy, int cut = -1);
  void charge_cuts(Row kind, int variable, Busy const& busy, int block);

  BoundQuestion const& m_question;
  StepWork const& m_work;
  CoverProblem m_problem;
  int m_update_s = -1, m_backward_s = -1;  // the variables of both times; the first may be missing
  std::vector<Cut> m_cuts;
  std::map<std::tuple<Row, int, std::size_t>, int> m_rows;
  std::map<std::pair<Moment, Tier>, int> m_rooms;
};

}  // namespace spillway
