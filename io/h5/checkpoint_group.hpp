// A CheckpointGroup is a TensorSource of the tensors in one group of a checkpoint, such as `model`.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/h5/checkpoint_reader.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway {

// Tensors have their names without the group, and the types that they are stored in. The
// CheckpointReader must outlive this object.
class CheckpointGroup : public TensorSource {
 public:
  CheckpointGroup(CheckpointReader& checkpoint, std::string group);

  std::string place() const override { return m_checkpoint.directory().string(); }
  TensorList const& tensors() const override { return m_tensors; }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;
  TensorRange verified_range(std::size_t tensor, TensorRange range) const override;

 private:
  CheckpointReader& m_checkpoint;
  std::string m_group;
  TensorList m_tensors;
};

}  // namespace spillway
