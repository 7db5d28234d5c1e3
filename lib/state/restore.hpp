// Restores a model from a checkpoint, or gives it weights that anything else has.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "io/tensors/tensor_source.hpp"
#include "state/model_state.hpp"

namespace spillway {

// All ranks call these functions, and each reads what it keeps and, of values with checksums, the
// rest of their blocks. Meanwhile it tells the others that it is alive. The functions throw
// Error(bad_input) if the source is of another model, and Error(damaged) if it is damaged.

// What the checkpoint stores as this model does is copied; all else is converted.
void restore_model(CheckpointReader& checkpoint, ModelState& model, Comm& comm);

// The same for weights alone, which any source of floats may have: CheckpointMasters or files of
// another format. Moments become zero.
void restore_weights(TensorSource& weights, ModelState& model, Comm& comm);
// As restore_weights, for a run that begins: throws Error(damaged) that names a tensor with values
// which are not finite. Returns a checksum of the weights that every rank keeps.
std::string start_with_weights(TensorSource& weights, ModelState& model, Comm& comm);

}  // namespace spillway
