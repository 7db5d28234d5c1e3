#include "state/checkpoint_tensors.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "io/h5/checkpoint_file.hpp"

namespace spillway {
namespace {

// Lists the extents of each parameter's elements, by chunk and index.
using Extents = std::map<std::pair<int, int>, std::vector<ExtentSpec>>;

Extents extents_of_parameters(ModelState const& model, int ranks, Stored stored) {
  std::vector<TensorInfo> tensors;
  for_each_parameter_with(
      kParameter, model,
      [&](auto const&, int, auto const& parameter) {
        tensors.push_back({kWeightsGroup, parameter.name, parameter.view.shape});
      },
      stored);
  auto const even = spread_evenly(std::move(tensors), ranks).extents;
  auto extent = even.begin();
  std::size_t tensor = 0;
  Extents extents;
  for_each_parameter_with(
      kParameter, model,
      [&](auto const& chunk, int index, auto const&) {
        auto& of_this = extents[{chunk.id, index}];
        for (; extent != even.end() && extent->tensor == tensor; ++extent)
          if (!chunk.is_shared_out()) of_this.push_back(*extent);
        for (int number = 0; chunk.is_shared_out() && number < ranks; ++number) {
          auto const rank = static_cast<int>(model.sharing(chunk.id).rank_that_sums(number));
          auto const [first, last] = model.in_slice(chunk.id, index, number);
          if (first < last) of_this.push_back({tensor, rank, first, last - first});
        }
        ++tensor;
      },
      stored);
  return extents;
}

}  // namespace

std::vector<StoredGroup> stored_groups(ModelState const& model) {
  std::vector<StoredGroup> groups = {{kParameter, kWeightsGroup}};
  for (auto const& chunk : model.chunks()) {
    for (auto const& state : chunk.states) {
      if (std::ranges::count(groups, state.name, &StoredGroup::part) > 0) continue;
      groups.push_back({state.name, kOptimizerGroup + state.name});
    }
  }
  return groups;
}

ElementType element_type_of(DType type) {
  switch (type) {
    case DType::f32:
      return ElementType::f32;
    case DType::bf16:
      return ElementType::bf16;
    case DType::i16:
      return ElementType::i16;
    case DType::u8:
      return ElementType::u8;
    default:
      throw std::logic_error("checkpoint: no state is stored as " + std::string(name(type)));
  }
}

CheckpointLayout layout_of(ModelState& model, int ranks, Stored stored) {
  auto const extents = extents_of_parameters(model, ranks, stored);
  CheckpointLayout layout;
  for_each_stored(
      model, stored, [&](auto const& group, auto const& chunk, int index, auto const& parameter) {
        for (auto extent : extents.at({chunk.id, index})) {
          auto const [first, last] = model.of_part(group.part, chunk.id, index,
                                                   {extent.first, extent.first + extent.elements});
          if (first == last) continue;
          extent.tensor = layout.tensors.size();
          extent.first = first;
          extent.elements = last - first;
          layout.extents.push_back(extent);
        }
        layout.tensors.push_back({group.name, parameter.name,
                                  model.shape_of(group.part, chunk.id, index),
                                  element_type_of(*model.stored_type(group.part, chunk.id))});
      });
  return layout;
}

}  // namespace spillway
