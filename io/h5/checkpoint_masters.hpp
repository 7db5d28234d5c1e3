// CheckpointMasters is a TensorSource of a checkpoint's weights as the optimizer sees them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/h5/checkpoint_group.hpp"

namespace spillway {

// All tensors are f32: what is stored as bf16 is joined with its remainder, which gives the exact
// fp32 master. The CheckpointReader must outlive this object.
class CheckpointMasters : public TensorSource {
 public:
  // Throws Error(damaged) if remainders are there that are not of bf16 weights.
  explicit CheckpointMasters(CheckpointReader& checkpoint);

  std::string place() const override { return m_weights.place(); }
  TensorList const& tensors() const override { return m_tensors; }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;
  TensorRange verified_range(std::size_t tensor, TensorRange range) const override;

 private:
  void add_remainders(std::size_t tensor, std::int64_t first, std::span<float> to);

  CheckpointGroup m_weights, m_remainders;
  TensorList m_tensors;
};

}  // namespace spillway
