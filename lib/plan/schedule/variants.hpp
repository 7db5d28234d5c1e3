// Some ops collect something over the micro-batches of a step and have a form for each case.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plan/schedule/program_writer.hpp"

namespace spillway {

class Variants {
 public:
  // The graph and the writer outlive it.
  Variants(Graph const& graph, ProgramWriter& writer);

  // Returns the op in its form for the step's first micro-batch (it overwrites) or for another (it
  // adds). Of several micro-batches one that makes a part of a gradient writes it apart, and one
  // that adds such a part is left out, so that nothing is returned. Any other op stays as it is.
  std::optional<int> of(int op, bool first);
  // Returns what an output of the op writes then.
  TensorId written(Op const& op, std::size_t output) const;
  bool is_left_out(int op) const { return m_several && m_adds.contains(op); }

 private:
  GradientPart const* part_of(int op, std::size_t output) const;

  Graph const& m_graph;
  ProgramWriter& m_writer;
  bool m_several;
  std::set<int> m_adds;
  std::multimap<int, GradientPart const*> m_parts;  // by the op that makes them
  std::map<std::pair<int, bool>, int> m_made;
};

}  // namespace spillway
