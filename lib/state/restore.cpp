#include "state/restore.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/count.hpp"
#include "base/error.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_group.hpp"
#include "io/h5/checkpoint_masters.hpp"
#include "io/tensors/finite.hpp"
#include "model/adapters.hpp"
#include "state/checkpoint_tensors.hpp"

namespace spillway {
namespace {

// Names a parameter of a model.
struct ParameterAt {
  int chunk, index;
};

// Where a start has no adapters, they begin as new ones.
bool has_adapters(TensorSource const& source) {
  for (std::size_t i = 0; i < source.tensors().size(); ++i)
    if (adapted_layer(source.tensors()[i].name)) return true;
  return false;
}

// Throws Error(bad_input) unless `source` has a tensor of the right shape for every parameter that
// has `part`, but for those that `is_elsewhere`.
template <class IsElsewhere>
void require_same_model(TensorSource const& source, StoredGroup const& group, ModelState& model,
                        IsElsewhere const& is_elsewhere) {
  auto const refuse = [&](std::string const& why) {
    throw Error(Status::bad_input, fmt::format("{}: is of another model: {}", source.place(), why));
  };
  std::size_t tensors = 0;
  auto const require_same = [&](auto const& chunk, int index, auto const& parameter) {
    if (is_elsewhere(parameter.name)) return;
    ++tensors;
    auto const number = source.tensors().find(parameter.name);
    if (!number) refuse(fmt::format("it has no {}/{}", group.name, parameter.name));
    auto const& shape = source.tensors()[*number].shape;
    auto const here = model.shape_of(group.part, chunk.id, index);
    if (shape != here)
      refuse(fmt::format("{} is [{}] there, [{}] here", parameter.name, fmt::join(shape, ", "),
                         fmt::join(here, ", ")));
  };
  for_each_parameter_with(group.part, model, require_same);
  if (group.name == kWeightsGroup && source.tensors().size() != tensors)
    refuse(fmt::format("{} there, {} here", count(std::ssize(source.tensors()), "parameter"),
                       tensors));
}

// Divides `range` into pieces, and calls body(first, elements) for each.
template <class Body>
void in_pieces(TensorRange range, Body const& body) {
  for (auto first = range.first; first < range.last; first += kCopiedElements)
    body(first, std::min(kCopiedElements, range.last - first));
}

// Returns which elements of `part` the rank keeps.
TensorRange kept(std::string_view part, ParameterAt at, ModelState& model) {
  auto const& parameter = model.chunks()[at.chunk].parameters[static_cast<std::size_t>(at.index)];
  bool const all = part == kWholeParameter || (part == kMaster && model.keeps_all(at.chunk));
  if (all) return {0, element_count(parameter.shape())};
  auto const own = model.of_part(part, at.chunk, at.index, model.owned(at.chunk, at.index));
  return {own.first, own.last};
}

// Reads the elements that the rank keeps to where it keeps them.
void copy_tensor(TensorSource& source, std::size_t tensor, std::string_view part, ParameterAt at,
                 ModelState& model, Comm& comm) {
  auto const size = size_bytes(source.tensors()[tensor].type);
  auto const wanted = kept(part, at, model);
  auto const read = source.verified_range(tensor, wanted);
  std::vector<std::byte> unwanted;  // what a checksum needs
  auto const pass_over = [&](std::int64_t first, std::int64_t elements) {
    unwanted.resize(static_cast<std::size_t>(elements * size));
    source.read(tensor, first, unwanted);
    comm.still_here();
  };
  in_pieces({read.first, wanted.first}, pass_over);
  for (auto first = wanted.first; first < wanted.last;) {
    auto const bytes = model.stored(part, at.chunk, at.index, first,
                                    std::min(kCopiedElements, wanted.last - first), true);
    source.read(tensor, first, bytes);
    first += std::ssize(bytes) / size;
    comm.still_here();
  }
  in_pieces({wanted.last, read.last}, pass_over);
}

// Reads the elements that the rank keeps as floats, and calls told(values) for each piece.
template <class Told>
void convert_tensor(TensorSource& source, std::size_t tensor, std::string_view part, ParameterAt at,
                    ModelState& model, Comm& comm, Told const& told) {
  std::vector<float> buffer(kCopiedElements);
  in_pieces(source.verified_range(tensor, kept(part, at, model)),
            [&](std::int64_t first, std::int64_t elements) {
              std::span const values(buffer.data(), static_cast<std::size_t>(elements));
              read_floats(source, tensor, first, values);
              told(values);
              model.write(part, at.chunk, at.index, first, values);
              comm.still_here();
            });
}

// Returns whether the source has the tensor `name` as the model stores `part` of a chunk, or the
// model stores no such part.
bool is_alike(TensorSource const& source, std::string const& name, std::string_view part, int chunk,
              ModelState& model) {
  auto const here = model.stored_type(part, chunk);
  if (!here) return true;
  auto const there = source.tensors().find(name);
  return there && source.tensors()[*there].type == element_type_of(*here);
}

void require_same_group(CheckpointReader& checkpoint, StoredGroup const& group, ModelState& model,
                        TensorSource const* base) {
  require_same_model(CheckpointGroup(checkpoint, group.name), group, model,
                     [&](std::string const& name) {
                       return group.name == kWeightsGroup && base != nullptr &&
                              base->tensors().find(name).has_value();
                     });
}

// Copies those halves of a bf16 parameter's master that the model keeps, or converts the master. A
// master rounds to its stored parameter, so a model that keeps only parameters reads nothing else.
// What the checkpoint does not have comes from its base.
void restore_masters(CheckpointReader& checkpoint, TensorSource* base, ModelState& model,
                     Comm& comm) {
  CheckpointGroup weights(checkpoint, kWeightsGroup), remainders(checkpoint, kRemainderGroup);
  CheckpointMasters masters(checkpoint);
  auto const for_each = [&](std::string_view part, auto const& body) {
    for_each_parameter_with(part, model, [&](auto const& chunk, int index, auto const& parameter) {
      bool const alike = is_alike(weights, parameter.name, kParameter, chunk.id, model) &&
                         is_alike(remainders, parameter.name, kRemainder, chunk.id, model);
      body(ParameterAt{chunk.id, index}, parameter.name, alike);
    });
  };
  for_each(kParameter, [&](ParameterAt at, std::string const& name, bool alike) {
    if (auto const there = base != nullptr ? base->tensors().find(name) : std::nullopt)
      return convert_tensor(*base, *there, kMaster, at, model, comm, [](auto) {});
    auto const tensor = *weights.tensors().find(name);
    if (!alike) return convert_tensor(masters, tensor, kMaster, at, model, comm, [](auto) {});
    copy_tensor(weights, tensor, kParameter, at, model, comm);
    if (model.keeps_all(at.chunk)) copy_tensor(weights, tensor, kWholeParameter, at, model, comm);
  });
  for_each(kRemainder, [&](ParameterAt at, std::string const& name, bool alike) {
    if (alike)
      copy_tensor(remainders, *remainders.tensors().find(name), kRemainder, at, model, comm);
  });
}

void restore_moments(CheckpointGroup& source, std::string_view part, ModelState& model,
                     Comm& comm) {
  for_each_parameter_with(part, model, [&](auto const& chunk, int index, auto const& parameter) {
    auto const tensor = *source.tensors().find(parameter.name);
    ParameterAt const at{chunk.id, index};
    if (is_alike(source, parameter.name, part, chunk.id, model))
      return copy_tensor(source, tensor, part, at, model, comm);
    convert_tensor(source, tensor, part, at, model, comm, [](auto) {});
  });
}

}  // namespace

void restore_model(CheckpointReader& checkpoint, TensorSource* base, ModelState& model,
                   Comm& comm) {
  auto const groups = stored_groups(model);
  // A checkpoint of another model is refused before anything is read. Its remainders need not be
  // the model's, since restore_masters converts masters where they are not.
  for (auto const& group : groups)
    if (group.part != kRemainder) require_same_group(checkpoint, group, model, base);
  restore_masters(checkpoint, base, model, comm);
  for (auto const& group : groups) {
    if (group.part == kParameter || group.part == kRemainder) continue;
    CheckpointGroup source(checkpoint, group.name);
    restore_moments(source, group.part, model, comm);
  }
  model.complete();
}

void restore_weights(CheckpointReader& checkpoint, TensorSource* base, ModelState& model,
                     Comm& comm) {
  require_same_group(checkpoint, {kParameter, kWeightsGroup}, model, base);
  restore_masters(checkpoint, base, model, comm);
  model.complete();
}

void start_with_weights(TensorSource& weights, ModelState& model, Comm& comm,
                        StreamingChecksum* sum, std::uint64_t seed) {
  bool const are_new = !has_adapters(weights);
  auto const begins = [&](std::string const& name) { return are_new && adapted_layer(name); };
  require_same_model(weights, {kMaster, kWeightsGroup}, model, begins);
  model.initialise(seed, begins);
  for_each_parameter_with(kMaster, model, [&](auto const& chunk, int index, auto const& parameter) {
    if (begins(parameter.name)) return;
    bool const by_all = !chunk.is_shared_out() || model.keeps_all(chunk.id);
    ValueCounts counts;
    std::int64_t read = 0;
    auto const look_at = [&](std::span<float const> values) {
      read += std::ssize(values);
      counts += count_values(values, ElementType::f32);
      if (sum != nullptr && by_all) sum->add(std::as_bytes(values));
    };
    convert_tensor(weights, *weights.tensors().find(parameter.name), kMaster, {chunk.id, index},
                   model, comm, look_at);
    require_finite(weights.place(), parameter.name, read, counts);
  });
  model.complete();
}

}  // namespace spillway
