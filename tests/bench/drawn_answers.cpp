// Asks the planner questions that are drawn at random, and says where somebody who forces keys gets
// a faster plan, or somebody who has more of something a slower one.
//   build/bin/spillway_bench_drawn_answers open|tight FIRST END [FORCES [alone]]
// `open` draws models and machines as people have them, `tight` small models that must leave the
// device in part. Asks the questions FIRST to END - 1, each again with one to three keys forced,
// FORCES times (15), and with twice as much of each thing. FORCES 0 asks the question alone; with
// `alone`, each value of each key is forced by itself. Prints for each question its text, seconds
// of its step, CPU milliseconds of the search, plans estimated and compiled, and the worst of both.
#include <fmt/core.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "tests/support/drawn_questions.hpp"

namespace spillway::test {
namespace {

constexpr double kNoAnswer_s = 86'400;

struct Worst {
  double factor = 1;
  std::string by = "-";
  void note(double other, std::string const& what) {
    if (other > factor) *this = {other, what};
  }
  std::string text() const { return fmt::format("{:.4f}\t{}", factor, by); }
};

void ask(Question const& open, unsigned seed, int forces, bool alone) {
  auto const before = std::clock();
  auto const found = solve(open.asked());
  double const cpu_ms = 1e3 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  auto const open_s = found.chosen ? found.chosen->step_s : kNoAnswer_s;
  fmt::print("{}\t{:.6g}\t{:.0f}\t{}\t{}", open.text, open_s, cpu_ms, found.estimated,
             found.compiled);
  std::fflush(stdout);
  Worst beaten, slowed;
  auto const note = [&](Forced const& forced) {
    auto const forced_s = forced.question.step_s();
    if (alone && forced_s < kNoAnswer_s)
      fmt::print("\n  {:.4f} {}", open_s / forced_s, forced.text);
    beaten.note(open_s / forced_s, forced.text);
  };
  if (alone) {
    for (Forced const& forced : with_each_key_forced(open)) note(forced);
  } else {
    Random draws(seed + 1000);
    for (int i = 0; i < forces; ++i) note(with_keys_forced(open, draws));
  }
  for (auto const& [name, give] : more_of_each()) {
    if (forces == 0) break;
    auto more = open;
    give(more);
    slowed.note(more.step_s() / open_s, name);
  }
  fmt::print("\t{}\t{}\n", beaten.text(), slowed.text());
  std::fflush(stdout);
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  using namespace spillway::test;
  if (argc < 4) return EXIT_FAILURE;
  bool const tight = std::string_view(argv[1]) == "tight";
  auto const first = static_cast<unsigned>(std::atoi(argv[2]));
  auto const end = static_cast<unsigned>(std::atoi(argv[3]));
  int const forces = argc > 4 ? std::atoi(argv[4]) : 15;
  for (auto seed = first; seed < end; ++seed)
    ask(tight ? draw_tight_question(seed) : draw_question(seed), seed, forces, argc > 5);
}
