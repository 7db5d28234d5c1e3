// Says which tensors the checkpoints of a model have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/h5/checkpoint_layout.hpp"
#include "state/model_state.hpp"

namespace spillway {

inline constexpr std::int64_t kCopiedElements = 1 << 16;  // this many are copied at a time

// The tensors of one group of a checkpoint hold the same part of all parameters (ModelState).
struct StoredGroup {
  std::string_view part;
  std::string name;
};

// Says which chunks a checkpoint has: all, or those that are trained if the others' parameters are
// in its base (state/base_weights.hpp).
enum class Stored : std::uint8_t { all, trained };

// Lists the groups of a checkpoint, each with what a chunk keeps: parameters, then their states.
std::vector<StoredGroup> stored_groups(ModelState const& model);

// Calls body(chunk, index, parameter) for every parameter whose `part` a checkpoint has.
template <class Body>
void for_each_parameter_with(std::string_view part, ModelState const& model, Body const& body,
                             Stored stored = Stored::all) {
  bool const of_all = part == kParameter || part == kMaster;
  for (auto const& chunk : model.chunks()) {
    if (!of_all && chunk.state(part) < 0) continue;
    if (stored == Stored::trained && !chunk.trainable) continue;
    auto const& parts = chunk.parts_of(chunk.state(part));
    for (std::size_t i = 0; i < chunk.parameters.size(); ++i) {
      bool const is_empty = !parts.empty() && parts[i].first == parts[i].last;
      if (!is_empty) body(chunk, static_cast<int>(i), chunk.parameters[i]);
    }
  }
}

// Calls body(group, chunk, index, parameter) for every tensor of a checkpoint, in their order.
template <class Body>
void for_each_stored(ModelState const& model, Stored stored, Body const& body) {
  for (auto const& group : stored_groups(model))
    for_each_parameter_with(
        group.part, model,
        [&](auto const& chunk, int index, auto const& parameter) {
          body(group, chunk, index, parameter);
        },
        stored);
}

// Returns the element type by which files know a DType of state. Throws std::logic_error if no
// state has that type.
ElementType element_type_of(DType type);

// Says what each of `ranks` ranks writes: what it alone has, and an even part of the parameters
// that all have. All parts of a parameter are cut alike, so that a rank that reads some of its
// elements finds them together.
CheckpointLayout layout_of(ModelState& model, int ranks, Stored stored);

}  // namespace spillway
