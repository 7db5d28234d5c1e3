// Says in what types the tensors of a model are saved: mostly in one, with exceptions.
#pragma once

#include <map>
#include <string>

#include "io/tensors/tensor_list.hpp"

namespace spillway {

struct TensorTypes {
  ElementType usual = ElementType::f32;  // the type of most elements
  std::map<std::string, ElementType> exceptions;

  ElementType of(std::string const& tensor) const;
  bool operator==(TensorTypes const&) const = default;
};

TensorTypes types_of(TensorList const& tensors);

// Returns whether every value of the type `narrow` is one of the type `wide`. Both are floats.
bool holds(ElementType wide, ElementType narrow);
// Returns the narrowest type that holds the values of all tensors, which are floats.
ElementType common_type(TensorList const& tensors);

// The text is small JSON: {"usual": "BF16", "exceptions": {"model.norm.weight": "F32"}}. For any
// other text types_from_json throws Error(damaged) that begins with `source`.
std::string to_json(TensorTypes const& types);
TensorTypes types_from_json(std::string const& text, std::string const& source);

}  // namespace spillway
