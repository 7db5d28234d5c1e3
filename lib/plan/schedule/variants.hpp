// Some ops sum up values over the micro-batches of a step. Such an op has two variants: the first
// micro-batch overwrites, and later ones add.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plan/schedule/program_writer.hpp"

namespace spillway {

class Variants {
 public:
  // The graph and the writer must outlive this object.
  Variants(Graph const& graph, ProgramWriter& writer);

  // Returns the op's variant for the step's first micro-batch, or for a later one. If there are
  // several micro-batches, an op that makes a part of a gradient writes the part to a tensor of its
  // own, and an op that adds such a part is left out: nothing is returned. Any other op stays
  // unchanged.
  std::optional<int> of(int op, bool first);
  // Returns the tensor that the variant writes to this output.
  TensorId written(Op const& op, std::size_t output) const;
  bool is_left_out(int op) const { return m_several && m_adds.contains(op); }

 private:
  GradientPart const* part_of(int op, std::size_t output) const;

  Graph const& m_graph;
  ProgramWriter& m_writer;
  bool m_several;
  std::set<int> m_adds;
  std::multimap<int, GradientPart const*> m_parts;  // the key is the op that makes the part
  std::map<std::pair<int, bool>, int> m_made;
};

}  // namespace spillway
