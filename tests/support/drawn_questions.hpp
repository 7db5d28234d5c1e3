// Draws questions to the planner at random: a model, a machine, budgets. Each may also be asked
// with some keys forced, or with more of something. The same seed draws the same question.
#pragma once

#include <string>
#include <vector>

#include "plan/search/solve.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test {

struct Question {
  std::string text;
  Graph graph;
  Machine machine;
  Budgets budgets;
  PlanWords words;
  std::int64_t micro_batches, ranks;

  // The question must outlive the result.
  PlanQuestion asked() const {
    return {graph, nullptr, words, budgets, machine, micro_batches, ranks};
  }
  // Returns the seconds that a step takes, or a day if nothing fits.
  double step_s() const;
};

// Draws a model and a machine as people have them.
Question draw_question(unsigned seed);

// Draws a model of few layers, and budgets as shares of what it would take to keep everything on
// the device: in every such question something has to leave.
Question draw_tight_question(unsigned seed);

// A Forced question has the keys that its text names.
struct Forced {
  std::string text;
  Question question;
};
// Forces one to three keys.
Forced with_keys_forced(Question question, Random& draws);
// Forces each value of each key alone.
std::vector<Forced> with_each_key_forced(Question const& question);

// Each gives a question twice as much of something.
struct More {
  char const* name;
  void (*give)(Question&);
};
std::vector<More> const& more_of_each();

}  // namespace spillway::test
