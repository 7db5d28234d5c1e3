// Of a run that trains only a part of what run.init has, checkpoints hold that part and say where
// all else is: in their base.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "huggingface/base_places.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/tensors/tensor_source.hpp"
#include "state/run_state.hpp"

namespace spillway {

// Reads weights of a base, in the types in which they lie there, and notes or proves their
// checksums: a tensor counts if it is read in order, from its first element to its last.
class BaseWeights : public TensorSource {
 public:
  // With `sums`, has these tensors alone, of which `source` has all, and `read` throws
  // Error(bad_input), naming `user`, at the end of one whose values are others.
  BaseWeights(BaseReference reference, std::string const& user,
              std::shared_ptr<TensorSource> source);

  std::string place() const override { return m_reference.path; }
  TensorList const& tensors() const override { return m_tensors; }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;
  // All of a tensor is needed to prove a part of it.
  TensorRange verified_range(std::size_t tensor, TensorRange range) const override;

  // Returns the checksums of all tensors that have been read.
  std::map<std::string, std::string> const& sums() const { return m_sums; }

 private:
  void end_tensor(std::size_t tensor);

  BaseReference m_reference;
  std::string m_user;
  std::shared_ptr<TensorSource> m_source;
  TensorList m_tensors;
  StreamingChecksum m_sum;  // of the tensor that is being read
  std::size_t m_tensor = 0;
  std::int64_t m_next = 0;  // its next element
  std::map<std::string, std::string> m_sums;
};

// Returns the Error(bad_input) for a --base that `user` does not need.
Error no_use_of_base(std::string const& user);

// Opens the base that a checkpoint names, or returns null if it holds all weights itself. The base
// is sought where the checkpoint says, then at places.starts, then at the same place as seen from
// the run's directory: it is the first of them that has all tensors, and the smallest matrix with
// its values. Throws Error(bad_input) that says what is wrong with the first place if none is, and
// for a place that is given to a checkpoint without a base.
std::shared_ptr<BaseWeights> open_base(CheckpointReader const& checkpoint,
                                       BasePlaces const& places = {});

// Has the tensors of several sources as floats.
class JoinedWeights : public TensorSource {
 public:
  // No two sources may have a tensor of one name. The place is that of the first.
  explicit JoinedWeights(std::vector<std::shared_ptr<TensorSource>> sources);

  std::string place() const override { return m_sources.front()->place(); }
  TensorList const& tensors() const override { return m_tensors; }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;
  TensorRange verified_range(std::size_t tensor, TensorRange range) const override;

 private:
  struct At {
    TensorSource* source;
    std::size_t number;
  };

  std::vector<std::shared_ptr<TensorSource>> m_sources;
  TensorList m_tensors;
  std::vector<At> m_places;
};

// Returns all weights of a checkpoint: the masters that it holds, and those of its base. The
// CheckpointReader must outlive the result. Throws what CheckpointMasters and open_base do.
JoinedWeights checkpoint_weights(CheckpointReader& checkpoint, BasePlaces const& places = {});

// Opens the weights of a directory of Hugging Face or of a checkpoint.
std::shared_ptr<TensorSource> open_weights(std::filesystem::path const& path);

}  // namespace spillway
