// A MergedSource has the weights of a model whose adapters are merged into its linear layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway {

// All tensors are f32. `weights` has those of the model and of its adapters, and must outlive this
// object; no key of `model` may be left to `auto`.
class MergedSource : public TensorSource {
 public:
  MergedSource(TensorSource& weights, ModelConfig const& model);

  std::string place() const override { return m_weights.place(); }
  TensorList const& tensors() const override { return m_tensors; }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;
  TensorRange verified_range(std::size_t tensor, TensorRange range) const override;

 private:
  struct Factors {
    std::vector<float> a, b;  // as [inputs, rank] and [outputs, rank]
  };

  std::size_t number(std::size_t tensor) const;
  std::vector<float> values(std::string const& name);
  void load_factors(std::size_t tensor);
  void add_product(std::size_t tensor, std::int64_t first, std::span<float> to) const;

  TensorSource& m_weights;
  std::int64_t m_rank;
  float m_factor;
  bool m_inputs_first;  // whether matrices lie as [inputs, outputs]
  TensorList m_tensors;
  std::size_t m_loaded;  // the tensor of which m_factors are, or one that does not exist
  Factors m_factors;     // empty if the tensor has no adapter
};

}  // namespace spillway
