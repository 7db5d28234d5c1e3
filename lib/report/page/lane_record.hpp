// Says what each lane does during a step, in a form that is small however many items a step has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/data/program.hpp"
#include "plan/time/simulate.hpp"
#include "report/page/page_json.hpp"

namespace spillway {

// A LanePiece is one run of an item on a lane or, where these are too short to be seen, of several.
struct LanePiece {
  double start_s = 0, end_s = 0;  // from the begin of the step; an item may have begun before it
  std::size_t kind = 0;           // of the longest item: an index into StepLanes::kinds
  int block = -1;                 // of that item; -1 if it has none
  std::int64_t item = -1;         // the number of the first item, as `plan --items` lists it
  std::int64_t items = 1;
  double longest_s = 0;
};

// A LaneKind is what an item does: its name such as "matmul", and the word by which it is coloured,
// such as "backward" or, for an item that moves bytes, what they are.
struct LaneKind {
  std::string name, group;
  auto operator<=>(LaneKind const&) const = default;
};

class StepLanes {
 public:
  // Adds a run of an item. `piece.kind` and `piece.longest_s` need not be set.
  void add(std::string const& lane, LaneKind const& kind, LanePiece piece);

  // Returns all as JSON with about `most` pieces: neighbours that are too short become one.
  PageJson to_json(std::size_t most) const;

  double step_s = 0;
  Simulation::Repeat repeat;        // what a prediction leaves out
  std::vector<std::string> blocks;  // their names; may be empty

 private:
  std::map<LaneKind, std::size_t> m_numbers;
  std::vector<LaneKind> m_kinds;
  std::vector<std::pair<std::string, std::vector<LanePiece>>> m_lanes;
};

// Says that an op of the forward pass which runs again in the backward pass is "computed again".
inline constexpr std::string_view kComputedAgain = "computed again";

StepLanes lanes_of(Program const& program, Simulation const& simulation);

// Returns the pieces, which must be sorted by their start, in which neighbours that together are
// shorter than `resolution_s` are one.
std::vector<LanePiece> merged(std::vector<LanePiece> const& pieces, double resolution_s);

}  // namespace spillway
