// Files name the fields of a Program as the lists in this file do: by the names of the members, in
// the same order. A list that lacks a member does not compile.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <variant>

#include "plan/data/program.hpp"

namespace spillway {

// The file of a Program begins with this key, whose value is the version of the file format.
inline constexpr char const* kFormKey = "spillway_program";
inline constexpr int kForm = 1;

// The type T may be const, because the same lists of fields serve for reading and for writing.
template <class T, class Wanted>
concept Of = std::same_as<std::remove_const_t<T>, Wanted>;
template <class T>
concept List = std::derived_from<T, std::vector<typename T::value_type>>;

// Calls visit(name, member) for each member. `names` holds the names of all members, joined by ",
// ".
void visit_members(auto const& visit, std::string_view names, auto&... members) {
  auto const one = [&](auto& member) {
    auto const end = names.find(',');
    visit(names.substr(0, end), member);
    names.remove_prefix(end == names.npos ? names.size() : end + 2);
  };
  (one(members), ...);
}

// Defines visit_fields(object, visit), which calls visit(name, member) for the members of a Type.
#define SPILLWAY_FIELDS(Type, ...)                              \
  void visit_fields(Of<Type> auto& object, auto const& visit) { \
    auto& [__VA_ARGS__] = object;                               \
    visit_members(visit, #__VA_ARGS__, __VA_ARGS__);            \
  }

SPILLWAY_FIELDS(Tensor, id, name, role, dtype, shape, block, chunk, persistent, versions)
SPILLWAY_FIELDS(View, tensor, offset, shape, strides)
SPILLWAY_FIELDS(EmbedAttributes, sequence)
SPILLWAY_FIELDS(NormAttributes, eps)
SPILLWAY_FIELDS(AttentionAttributes, batch, queries, keys, heads, kv_heads, head_size, causal,
                window, scale, tile, dropout, seed, origin)
SPILLWAY_FIELDS(RelativeBiasAttributes, queries, max_distance, bidirectional)
SPILLWAY_FIELDS(RopeAttributes, sequence, heads, head_size, theta, scaling, factor, low_freq_factor,
                high_freq_factor, original_max_position, inverse)
SPILLWAY_FIELDS(ActivationAttributes, form)
SPILLWAY_FIELDS(DropoutAttributes, p, sequence, seed, origin, first_row)
SPILLWAY_FIELDS(MlpAttributes, chunk, form, gated, dropout)
SPILLWAY_FIELDS(LmHeadAttributes, chunk, scale)
SPILLWAY_FIELDS(ScaleAttributes, factor)
SPILLWAY_FIELDS(DequantizeAttributes, form)
SPILLWAY_FIELDS(UpdateRange, first, of_slice)
SPILLWAY_FIELDS(AdamWAttributes, beta1, beta2, eps, weight_decay, lr_share, range, seed)
SPILLWAY_FIELDS(LionAttributes, beta1, beta2, weight_decay, range, seed)
SPILLWAY_FIELDS(SgdAttributes, momentum, weight_decay, range, seed)
SPILLWAY_FIELDS(AdafactorAttributes, clip_threshold, eps2, weight_decay, range)
SPILLWAY_FIELDS(MuonAttributes, momentum, weight_decay, adjust_lr, adamw, range)

// These are the names of the kinds of Attributes, in the order of the variant, with "none" first.
inline constexpr auto kAttributeNames = std::to_array<std::string_view>(
    {"none", "embed", "norm", "attention", "relative_bias", "rope", "activation", "dropout", "mlp",
     "lm_head", "scale", "dequantize", "update_range", "adamw", "lion", "sgd", "adafactor",
     "muon"});
static_assert(kAttributeNames.size() == std::variant_size_v<Attributes>);
void visit_fields(Of<std::monostate> auto&, auto const&) {}

void visit_fields(Of<TierBytes> auto& bytes, auto const& visit) {
  for (Tier const tier : kTiersInOrder) visit(name(tier), bytes[tier]);
}

SPILLWAY_FIELDS(Op, id, origin, kind, phase, block, chunk, name, inputs, outputs, in_place,
                attributes, flops, workspace_bytes, elided, whole_chunk)
SPILLWAY_FIELDS(Init, kind, std)
SPILLWAY_FIELDS(Quantized, form, shape, is_turned)
SPILLWAY_FIELDS(Parameter, name, view, init, decay, quantized)
SPILLWAY_FIELDS(ElementRange, first, last)
SPILLWAY_FIELDS(State, name, tensor, parts)
SPILLWAY_FIELDS(Chunk, id, name, block, trainable, parameters, elements, parameter, gradient,
                states, norm, sharers, parameter_slice, gradient_slice)
SPILLWAY_FIELDS(BatchTensor, field, stack, tensor)
SPILLWAY_FIELDS(WellKnown, batch, logits, loss, norms, control)
// The algorithms of products are left out, since they are chosen after a plan is made, and so are
// shares, since a Program is one rank's.
void visit_fields(Of<Arithmetic> auto& object, auto const& visit) {
  auto& [build, isa, precision, gradients, moments, threads, ranks, micro, sequence, attention_tile,
         loss_chunk, mlp_chunk, reduction, share, products] = object;
  static_cast<void>(share);
  static_cast<void>(products);
  visit_members(visit,
                "build, isa, precision, gradients, moments, threads, ranks, micro, sequence, "
                "attention_tile, loss_chunk, mlp_chunk, reduction",
                build, isa, precision, gradients, moments, threads, ranks, micro, sequence,
                attention_tile, loss_chunk, mlp_chunk, reduction);
}
SPILLWAY_FIELDS(Buffer, id, name, tensor, tier, bytes, offset, versions, stride, persistent,
                spanning, reserved)
SPILLWAY_FIELDS(Access, buffer, first, last, writers)
SPILLWAY_FIELDS(Item, number, lane, kind, op, block, chunk, micro_batch, operands, reads, writes,
                waits, horizon)
SPILLWAY_FIELDS(Segment, name, first, last, micro_batches)
SPILLWAY_FIELDS(Program, purpose, micro_batches, ranks, once, redo, unified, peak_bytes,
                persistent_bytes, segments, items, buffers, tensors, ops, chunks, known, arithmetic)

}  // namespace spillway
