// An Interleaver simulates a Program on its lanes in any legal order and checks that every read
// finds the value that it expects. Tests compare verify() with it. Unlike verify(), it has no
// clocks: simulated memory remembers who wrote each cell and whether that write is still going on.
#pragma once

#include <array>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "tests/support/touches.hpp"

namespace spillway::test {

class Interleaver {
 public:
  Interleaver(Program const& program, int steps);

  // Simulates one random legal order and returns the first failure, if there is one. Lanes get
  // random speeds, so that some fall far behind.
  std::optional<Failure> run_random(std::mt19937& random) const;
  // Simulates the executions in their total order. Besides, it holds back each execution once
  // before its start and once before its end, for as long as anything after it can go on. If two
  // items can conflict, one of these orders shows it.
  std::optional<Failure> run_held() const;
  // Simulates the executions in their total order, and holds back only those of items in `only`.
  std::optional<Failure> run_held(std::span<ItemNumber const> only) const;

 private:
  struct Cell {
    int writer = -1;  // the execution that wrote last; -1 if none has
    BufferId buffer = -1;
    bool busy = false;  // whether that execution still writes
  };
  using Counts = std::array<int, kLanes>;
  struct State {
    std::vector<Cell> memory;
    // For each lane, `started` is the number of executions that have started. The first `published`
    // of these have all finished.
    Counts started{}, published{};
    std::vector<bool> finished = {};  // whether each execution has finished
    std::vector<int> running = {};
    // Lists cells with their earlier contents, which hold() restores.
    std::vector<std::pair<int, Cell>> undo = {};
  };
  struct Event {
    int execution;
    bool finish;
  };

  Execution const& at(int id) const { return m_all.executions[static_cast<std::size_t>(id)]; }
  State begin() const;
  bool can_start(State const& state, std::size_t lane) const;
  std::vector<Event> possible(State const& state) const;
  std::optional<Failure> perform(State& state, Event const& event) const;
  std::optional<Failure> start(State& state, int id) const;
  std::optional<Failure> finish(State& state, int id) const;
  std::optional<Failure> complete(State& state, int id) const;
  std::optional<Failure> check_reads(State const& state, int id, bool at_end) const;
  std::optional<Failure> check_results(State const& state, int after) const;
  std::optional<Failure> hold(State& state, int held, bool running) const;
  std::optional<Failure> run_others(State& state, int held) const;
  std::optional<Failure> run_held(std::vector<bool> const& chosen) const;
  static bool holds(Cell const& cell, Touch const& touch);
  static void change(State& state, int cell, Cell now);
  Failure failure(int id, std::string const& why, int other) const;
  Failure lost_state(int id, BufferId owner) const;

  Program const& m_program;
  Touches m_all;
};

}  // namespace spillway::test
