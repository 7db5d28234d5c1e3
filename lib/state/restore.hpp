// Restores a model from a checkpoint, or gives it weights that anything else has.
#pragma once

#include "base/checksum.hpp"
#include "comm/comm.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/tensors/tensor_source.hpp"
#include "state/model_state.hpp"

namespace spillway {

// All ranks call these functions, and each reads what it keeps and, of values with checksums, the
// rest of their blocks. Meanwhile it tells the others that it is alive. The functions throw
// Error(bad_input) if the source is of another model, and Error(damaged) if it is damaged.

// What the checkpoint stores as this model does is copied; all else is converted. What it does not
// hold is read from `base`, which is null if it has none (state/base_weights.hpp).
void restore_model(CheckpointReader& checkpoint, TensorSource* base, ModelState& model, Comm& comm);

// The same for weights alone; no remainders are read if the model keeps only bf16 parameters.
// Moments become zero.
void restore_weights(CheckpointReader& checkpoint, TensorSource* base, ModelState& model,
                     Comm& comm);

// Gives a run that begins the weights of any source of floats, such as CheckpointMasters or files
// of another format. Moments become zero. Throws Error(damaged) that names a tensor with values
// which are not finite. Adds the weights that every rank keeps to `sum`, unless it is null.
// Adapters that the source does not have begin as new ones, with draws for `seed`.
void start_with_weights(TensorSource& weights, ModelState& model, Comm& comm,
                        StreamingChecksum* sum = nullptr, std::uint64_t seed = 0);

}  // namespace spillway
