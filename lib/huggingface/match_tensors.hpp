// Decides which tensors of a Hugging Face directory are a model's parameters. It opens no files.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "huggingface/description.hpp"
#include "io/tensors/tensor_list.hpp"

namespace spillway {

// Returns all parameters of a model, as fp32, in the order of its graph. No key of `model` may be
// left to `auto`.
std::vector<TensorEntry> parameters_of(ModelConfig const& model);

// A NamedTensor gives a tensor of a source a name, which may differ from its name in the source.
struct NamedTensor {
  std::string name;
  std::size_t number;  // its number in the source

  bool operator==(NamedTensor const&) const = default;
};

struct MatchedModel {
  ModelConfig model;                 // as described, but tensors decide if its head is tied
  std::vector<NamedTensor> tensors;  // all of its parameters, in the order of its graph
};

// Says whether all values of two tensors, given by their numbers in a TensorList, are equal.
using AreEqual = std::function<bool(std::size_t, std::size_t)>;

// Finds the tensors that are the model's parameters. Throws Error(bad_input) that begins with
// `place` and names a tensor that is unknown, is there under two names, is missing, has another
// shape, or differs from what it must be a copy of.
MatchedModel match_tensors(ModelDescription const& description, TensorList const& tensors,
                           std::string const& place, AreEqual const& are_equal);

// Returns the tensors that a file of the model must have. `tensors` must be all of its parameters.
std::vector<NamedTensor> exported_tensors(ModelDescription const& description,
                                          TensorList const& tensors, std::string const& place);

}  // namespace spillway
