// Which tensors of a Hugging Face directory are those of a model's checkpoint. No files here.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "huggingface/description.hpp"
#include "io/tensors/tensor_list.hpp"

namespace spillway {

// All parameters of a completed model, as fp32, in the order of its graph.
std::vector<TensorEntry> parameters_of(ModelConfig const& model);

// A tensor of a source by a name that it may not have there.
struct NamedTensor {
  std::string name;
  std::size_t number;  // in the source

  bool operator==(NamedTensor const&) const = default;
};

struct MatchedModel {
  ModelConfig model;                 // as described, but tied or not as the tensors are
  std::vector<NamedTensor> tensors;  // all of its parameters, in the order of its graph
};

// Says of two tensors of the list whether all their values are equal.
using AreEqual = std::function<bool(std::size_t, std::size_t)>;

// Throws Error(bad_input) that begins with `place` and names a tensor: one that is unknown, or has
// two names, is missing, has another shape, or is no copy of what it must be a copy of.
MatchedModel match_tensors(ModelDescription const& description, TensorList const& tensors,
                           std::string const& place, AreEqual const& are_equal);

// The way back: what a file of the model has, of a list with all of its parameters.
std::vector<NamedTensor> exported_tensors(ModelDescription const& description,
                                          TensorList const& tensors, std::string const& place);

}  // namespace spillway
