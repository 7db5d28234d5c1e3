// In what types the tensors of a model are saved: mostly one, with exceptions.
#pragma once

#include <map>
#include <string>

#include "io/tensors/tensor_list.hpp"

namespace spillway {

struct TensorTypes {
  ElementType usual = ElementType::f32;  // of most elements
  std::map<std::string, ElementType> exceptions;

  ElementType of(std::string const& tensor) const;
  bool operator==(TensorTypes const&) const = default;
};

TensorTypes types_of(TensorList const& tensors);

// Whether every value of `narrow` is one of `wide`. Both are floats.
bool holds(ElementType wide, ElementType narrow);
// The narrowest type that holds those of all tensors, which are floats.
ElementType common_type(TensorList const& tensors);

// As a small JSON text, {"usual": "BF16", "exceptions": {"model.norm.weight": "F32"}}. Throws
// Error(damaged) that begins with `source` for another one.
std::string to_json(TensorTypes const& types);
TensorTypes types_from_json(std::string const& text, std::string const& source);

}  // namespace spillway
