// All words and numbers of a graph, as text.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <variant>
#include <vector>

#include "graph/graph.hpp"

namespace spillway::test {

// Numbers of the C library's powers may differ in their last digits.
inline std::string text(double number) {
  return fmt::format("{:.12g}", number);
}

inline std::string text(View const& view) {
  return fmt::format("{}+{}[{}]/{}", view.tensor, view.offset, fmt::join(view.shape, ","),
                     fmt::join(view.strides, ","));
}

inline std::string text(std::vector<View> const& views) {
  std::string all;
  for (auto const& view : views) all += " " + text(view);
  return all;
}

struct AttributesText {
  std::string operator()(std::monostate const&) const { return ""; }
  std::string operator()(EmbedAttributes const& a) const { return fmt::format("{}", a.sequence); }
  std::string operator()(NormAttributes const& a) const { return text(a.eps); }
  std::string operator()(RelativeBiasAttributes const& a) const {
    return fmt::format("{} {} {}", a.queries, a.max_distance, a.bidirectional);
  }
  std::string operator()(RopeAttributes const& a) const {
    return fmt::format("{} {} {} {} {} {} {} {} {} {}", a.sequence, a.heads, a.head_size,
                       text(a.theta), static_cast<int>(a.scaling), text(a.factor),
                       text(a.low_freq_factor), text(a.high_freq_factor), a.original_max_position,
                       a.inverse);
  }
  std::string operator()(ActivationAttributes const& a) const {
    return fmt::format("{}", static_cast<int>(a.form));
  }
  std::string operator()(AttentionAttributes const& a) const {
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}", a.batch, a.queries, a.keys,
                       a.heads, a.kv_heads, a.head_size, a.causal, a.window, text(a.scale), a.tile,
                       text(a.dropout), a.seed, a.origin);
  }
  std::string operator()(DropoutAttributes const& a) const {
    return fmt::format("{} {} {} {}", text(a.p), a.sequence, a.seed, a.origin);
  }
  std::string operator()(MlpAttributes const& a) const {
    return fmt::format("{} {} {} ({})", a.chunk, static_cast<int>(a.form), a.gated,
                       (*this)(a.dropout));
  }
  std::string operator()(LmHeadAttributes const& a) const {
    return fmt::format("{} {}", a.chunk, text(a.scale));
  }
  std::string operator()(ScaleAttributes const& a) const { return text(a.factor); }
  std::string operator()(DequantizeAttributes const& a) const {
    return fmt::format("{}", static_cast<int>(a.form));
  }
  std::string operator()(UpdateRange const& a) const { return fmt::format("{}", a.first); }
  std::string operator()(AdamWAttributes const& a) const {
    return fmt::format("{} {} {} {} {} {}", text(a.beta1), text(a.beta2), text(a.eps),
                       text(a.weight_decay), a.range.first, a.seed);
  }
  std::string operator()(LionAttributes const& a) const {
    return fmt::format("{} {} {} {} {}", text(a.beta1), text(a.beta2), text(a.weight_decay),
                       a.range.first, a.seed);
  }
  std::string operator()(SgdAttributes const& a) const {
    return fmt::format("{} {} {} {}", text(a.momentum), text(a.weight_decay), a.range.first,
                       a.seed);
  }
  std::string operator()(AdafactorAttributes const& a) const {
    return fmt::format("{} {} {} {}", text(a.clip_threshold), text(a.eps2), text(a.weight_decay),
                       a.range.first);
  }
  std::string operator()(MuonAttributes const& a) const {
    return fmt::format("{} {} {} {} ({})", text(a.momentum), text(a.weight_decay),
                       static_cast<int>(a.adjust_lr), a.range.first, (*this)(a.adamw));
  }
};

inline std::string text(Op const& op, IdVector<Tensor> const& tensors) {
  return fmt::format("op {} {} {} {} {} {} {} {}: in{} out{} in place {} ({}) {} {} {} {} | {}\n",
                     op.id, op.origin, name(op.kind), static_cast<int>(op.phase), op.block,
                     op.chunk, op.name, op.elided, text(op.inputs), text(op.outputs),
                     fmt::join(op.in_place, ","), std::visit(AttributesText{}, op.attributes),
                     text(op.flops), op.workspace_bytes, op.whole_chunk, traffic_bytes(op, tensors),
                     cost_key(op, tensors));
}

inline std::string text(Quantized const& quantized) {
  if (quantized.form == Quantization::none) return "";
  return fmt::format(" {} [{}] {}", static_cast<int>(quantized.form),
                     fmt::join(quantized.shape, ","), quantized.is_turned);
}

inline std::string text(Chunk const& chunk) {
  auto all =
      fmt::format("chunk {} {} {} {} {} {} {} {}\n", chunk.id, chunk.name, chunk.block,
                  chunk.trainable, chunk.elements, chunk.parameter, chunk.gradient, chunk.norm);
  for (auto const& [name, view, init, decay, quantized] : chunk.parameters)
    all += fmt::format("parameter {} {} {} {} {}{}\n", name, text(view),
                       static_cast<int>(init.kind), text(init.std), decay, text(quantized));
  for (auto const& [name, tensor, parts] : chunk.states)
    all += fmt::format("state {} {}\n", name, tensor);
  return all;
}

inline std::string text(Graph const& graph) {
  std::string all;
  for (auto const& t : graph.tensors)
    all += fmt::format("tensor {} {} {} {} [{}] {} {} {} {}\n", t.id, t.name,
                       static_cast<int>(t.role), name(t.dtype), fmt::join(t.shape, ","), t.block,
                       t.chunk, t.persistent, t.versions);
  for (auto const& op : graph.ops) all += text(op, graph.tensors);
  for (auto const& b : graph.blocks)
    all += fmt::format("block {} {} {} {}\n", b.name, b.first_op, b.last_op, b.layer);
  for (auto const& chunk : graph.chunks) all += text(chunk);
  for (auto const& p : graph.parts)
    all += fmt::format("part {} {} {} {} {} {} {}\n", p.tensor, p.chunk, p.range.first,
                       p.range.last, p.op, p.output, p.add);
  for (auto const& [field, stack, tensor] : graph.known.batch)
    all += fmt::format("batch {} {} {}\n", row_of(field).name, stack, tensor);
  return all + fmt::format("known {} {} {} {}, seed {}\n", graph.known.logits, graph.known.loss,
                           graph.known.norms, graph.known.control, graph.seed);
}

}  // namespace spillway::test
