// Runs Programs on imaginary lanes in any legal order and looks at every byte: the oracle of
// `verify`. It knows nothing of clocks; it has counters, and memory whose cells remember who wrote
// them and whether that write is still going on.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "plan/program.hpp"

namespace spillway::test {

struct Failure {
  ItemNumber item = -1;  // that saw or did something wrong
  std::string why;
};

// Bytes are looked at in cells of `kCellBytes` (random_program.hpp).
class Interleaver {
 public:
  Interleaver(Program const& program, int steps);

  // One random legal execution. Lanes get random speeds, so that some fall far behind.
  std::optional<Failure> run_random(std::mt19937& random);
  // Every execution in which one instance of an item (of `only`, if given) is not started, or not
  // finished, for as long as anything else can go on. If two items can meet, one of these shows it.
  std::optional<Failure> run_held(ItemNumber only = -1);

 private:
  struct Cell {
    int writer = -1;  // instance; -1: nothing yet
    bool busy = false;
  };
  struct Touch {  // one cell that an instance reads or writes
    std::size_t tier, cell;
    int expected = -1;  // of reads: the instance whose value must be there
    bool own = false;   // of reads: the instance writes it as well

    bool same_place(Touch const& other) const { return tier == other.tier && cell == other.cell; }
  };
  struct Instance {
    ItemNumber item;
    std::size_t lane;
    int position;                                    // on its lane, from 0
    std::vector<std::pair<std::size_t, int>> waits;  // lane, count that must be published
    std::vector<Touch> reads, writes;
  };
  struct Event {
    int instance;
    bool finish;
  };
  struct State {
    std::vector<std::vector<Cell>> memory;  // per tier
    std::vector<int> started, published;    // per lane
    std::vector<bool> finished;             // per instance
    std::vector<int> running;
  };

  void add_instance(Item const& item, int step, int segment);
  void append_touches(std::vector<Touch>& touches, Access const& access, int step) const;
  void expect(Touch& touch, Access const& access, std::int64_t cell, int step, int segment);
  State begin() const;
  std::vector<Event> possible(State const& state) const;
  std::optional<Failure> perform(State& state, Event const& event) const;
  std::optional<Failure> start(State& state, int instance) const;
  std::optional<Failure> check_reads(State const& state, int instance, bool at_end) const;
  std::optional<Failure> run_holding(int held, bool started) const;
  Failure failure(int instance, std::string const& why, int other) const;

  struct Written {  // a cell of a buffer, by whom and when
    BufferId buffer;
    std::int64_t cell;
    int instance, step, segment;
  };
  Program const& m_program;
  std::vector<Instance> m_instances;
  std::vector<std::vector<int>> m_lanes;  // instances per lane
  std::vector<int> m_latest;              // per item: its latest instance so far
  std::vector<Written> m_written;
  std::optional<Failure> m_hopeless;  // a read whose expected value can never be there
};

}  // namespace spillway::test
