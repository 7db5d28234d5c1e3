// The fields of a Graph's parts by the names that files give them. Each list stands beside a
// binding that does not compile when a field is missing.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <variant>

#include "graph/graph.hpp"

namespace spillway {

// T, or T const: what is listed here is written and read.
template <class T, class Wanted>
concept Of = std::same_as<std::remove_const_t<T>, Wanted>;

template <Of<Tensor> T>
void visit_fields(T& tensor, auto const& field) {
  auto& [id, name, role, dtype, shape, block, chunk, persistent, versions] = tensor;
  field("id", id);
  field("name", name);
  field("role", role);
  field("dtype", dtype);
  field("shape", shape);
  field("block", block);
  field("chunk", chunk);
  field("persistent", persistent);
  field("versions", versions);
}

template <Of<View> T>
void visit_fields(T& view, auto const& field) {
  auto& [tensor, offset, shape, strides] = view;
  field("tensor", tensor);
  field("offset", offset);
  field("shape", shape);
  field("strides", strides);
}

template <Of<EmbedAttributes> T>
void visit_fields(T& embed, auto const& field) {
  auto& [sequence] = embed;
  field("sequence", sequence);
}

template <Of<NormAttributes> T>
void visit_fields(T& norm, auto const& field) {
  auto& [eps] = norm;
  field("eps", eps);
}

template <Of<AttentionAttributes> T>
void visit_fields(T& attention, auto const& field) {
  auto& [batch, queries, keys, heads, kv_heads, head_size, causal, window, scale, tile] = attention;
  field("batch", batch);
  field("queries", queries);
  field("keys", keys);
  field("heads", heads);
  field("kv_heads", kv_heads);
  field("head_size", head_size);
  field("causal", causal);
  field("window", window);
  field("scale", scale);
  field("tile", tile);
}

template <Of<RelativeBiasAttributes> T>
void visit_fields(T& bias, auto const& field) {
  auto& [queries, max_distance, bidirectional] = bias;
  field("queries", queries);
  field("max_distance", max_distance);
  field("bidirectional", bidirectional);
}

template <Of<GeluAttributes> T>
void visit_fields(T& gelu, auto const& field) {
  auto& [form] = gelu;
  field("form", form);
}

template <Of<DropoutAttributes> T>
void visit_fields(T& dropout, auto const& field) {
  auto& [p, sequence, seed, origin] = dropout;
  field("p", p);
  field("sequence", sequence);
  field("seed", seed);
  field("origin", origin);
}

template <Of<LmHeadAttributes> T>
void visit_fields(T& head, auto const& field) {
  auto& [chunk] = head;
  field("chunk", chunk);
}

template <Of<UpdateRange> T>
void visit_fields(T& range, auto const& field) {
  auto& [first] = range;
  field("first", first);
}

template <Of<AdamWAttributes> T>
void visit_fields(T& adamw, auto const& field) {
  auto& [beta1, beta2, eps, weight_decay, range] = adamw;
  field("beta1", beta1);
  field("beta2", beta2);
  field("eps", eps);
  field("weight_decay", weight_decay);
  field("range", range);
}

// Names of the kinds of Attributes, in their order; the first stands for none.
inline constexpr std::array<std::string_view, std::variant_size_v<Attributes>> kAttributeNames = {
    "none", "embed",   "norm",    "attention",    "relative_bias",
    "gelu", "dropout", "lm_head", "update_range", "adamw"};

template <Of<Op> T>
void visit_fields(T& op, auto const& field) {
  auto& [id, origin, kind, phase, block, chunk, name, inputs, outputs, in_place, attributes, flops,
         workspace_bytes, elided, whole_chunk] = op;
  field("id", id);
  field("origin", origin);
  field("kind", kind);
  field("phase", phase);
  field("block", block);
  field("chunk", chunk);
  field("name", name);
  field("inputs", inputs);
  field("outputs", outputs);
  field("in_place", in_place);
  field("attributes", attributes);
  field("flops", flops);
  field("workspace_bytes", workspace_bytes);
  field("elided", elided);
  field("whole_chunk", whole_chunk);
}

template <Of<Init> T>
void visit_fields(T& init, auto const& field) {
  auto& [kind, std] = init;
  field("kind", kind);
  field("std", std);
}

template <Of<Parameter> T>
void visit_fields(T& parameter, auto const& field) {
  auto& [name, view, init, decay] = parameter;
  field("name", name);
  field("view", view);
  field("init", init);
  field("decay", decay);
}

template <Of<State> T>
void visit_fields(T& state, auto const& field) {
  auto& [name, tensor] = state;
  field("name", name);
  field("tensor", tensor);
}

template <Of<Chunk> T>
void visit_fields(T& chunk, auto const& field) {
  auto& [id, name, block, trainable, parameters, elements, parameter, gradient, states, norm] =
      chunk;
  field("id", id);
  field("name", name);
  field("block", block);
  field("trainable", trainable);
  field("parameters", parameters);
  field("elements", elements);
  field("parameter", parameter);
  field("gradient", gradient);
  field("states", states);
  field("norm", norm);
}

template <Of<BatchTensor> T>
void visit_fields(T& batch, auto const& field) {
  auto& [kind, stack, tensor] = batch;
  field("field", kind);
  field("stack", stack);
  field("tensor", tensor);
}

template <Of<WellKnown> T>
void visit_fields(T& known, auto const& field) {
  auto& [batch, logits, loss, norms, control] = known;
  field("batch", batch);
  field("logits", logits);
  field("loss", loss);
  field("norms", norms);
  field("control", control);
}

template <Of<Arithmetic> T>
void visit_fields(T& arithmetic, auto const& field) {
  auto& [build, isa, precision, gradients, moments, threads, ranks, micro, sequence, attention_tile,
         loss_chunk, reduction] = arithmetic;
  field("build", build);
  field("isa", isa);
  field("precision", precision);
  field("gradients", gradients);
  field("moments", moments);
  field("threads", threads);
  field("ranks", ranks);
  field("micro", micro);
  field("sequence", sequence);
  field("attention_tile", attention_tile);
  field("loss_chunk", loss_chunk);
  field("reduction", reduction);
}

}  // namespace spillway
