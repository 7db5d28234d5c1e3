// An op of every kind that has a portable kernel, on odd sizes.
#pragma once

#include <utility>
#include <vector>

#include "tests/support/kernel_harness.hpp"
#include "tests/support/quantized_bytes.hpp"

namespace spillway::test {

// One op of every memory-bound kind, with every operand that it may have.
struct KernelCase {
  OpKind kind;
  std::vector<View> inputs, outputs;
  Attributes attributes = {};
  std::vector<int> in_place = {};
};

// The bytes of a matrix that is quantized.
inline View quantized_tensor(KernelHarness& h, Quantized const& of) {
  auto const matrix = bytes_of(of, std::vector<float>(element_count(of.shape), 0.75f));
  auto const bytes = h.tensor(DType::u8, {std::ssize(matrix)});
  h.set_all(bytes, numbers_of(matrix));
  return bytes;
}

// States of updates that take parameters whole, of which the last one is a matrix.
inline void give_whole_states(Chunk& chunk, View const& averages, View const& momentum) {
  chunk.states = {{"m", momentum.tensor, {{0, 9001}, {9024, 9107}, {9107, 12261}}},
                  {"v", averages.tensor, {{0, 9001}, {9024, 9107}, {9152, 9273}}}};
}

inline std::vector<KernelCase> every_case(KernelHarness& h, DType type = DType::bf16) {
  auto& chunk = h.chunk({9001, 83, 38 * 83}, kQuantizedBlock);
  chunk.parameters[2].view = {-1, chunk.parameters[2].view.offset, {38, 83}, {83, 1}};
  auto const elements = chunk.elements;
  auto const of_type = [&](Shape shape) { return h.tensor(type, std::move(shape)); };
  auto const f32 = [&](Shape shape) { return h.tensor(DType::f32, std::move(shape)); };
  auto const a = of_type({38, 83}), b = of_type({38, 83}), c = of_type({38, 83}),
             d = of_type({38, 83}), gamma = of_type({83});
  auto const rows = f32({38}), rows2 = f32({38}), g = f32({elements}), sums = f32({83});
  auto const sums2 = f32({83}), parts = f32({2, elements}), words = f32({300, 83});
  auto const m = f32({elements}), v = f32({elements}), places = f32({40, 83}), kinds = f32({2, 83});
  auto const parameter = of_type({elements}), row = of_type({1, 83}), beta = of_type({83});
  auto const table = of_type({300, 83}), relative = of_type({32, 4}), distances = f32({4, 39});
  auto const tokens = h.tensor(DType::i32, {38}), position = h.tensor(DType::i32, {1});
  auto const samples = h.tensor(DType::i64, {2}),
             rest = type == DType::bf16 ? h.tensor(DType::i16, {elements}) : View{};
  auto const m_code = h.tensor(DType::u8, {elements}), v_code = h.tensor(DType::u8, {elements});
  auto const m_scale = f32({elements / kQuantizedBlock}),
             v_scale = f32({elements / kQuantizedBlock});
  auto const averages = f32({9273}), momentum = f32({12261});
  give_whole_states(chunk, averages, momentum);
  auto const bytes = quantized_tensor(h, {Quantization::nf4, {38, 83}});
  auto const norm = h.tensor(DType::f64, {1}), control = h.tensor(DType::f64, {kControlWords});
  for (auto const& view : {a, b, gamma, beta, rows, rows2, g, parts, m, v, parameter, table,
                           relative, distances, m_scale, v_scale, averages, momentum})
    h.fill_normal(view, 1);
  for (auto const& view : {m_code, v_code}) h.fill_integers(view, 0, 256);
  h.fill_integers(tokens, 0, 300);
  h.fill_integers(samples, 0, 100);
  h.set(position, 0, 36);
  h.set_all(control, {1, 1, 1e-3, 0.1, 0.05, 0, 0, 0});
  return {
      {OpKind::add, {a, b}, {c}},
      {OpKind::accumulate, {g}, {m}},
      {OpKind::tree_sum, {parts}, {g}},
      {OpKind::activation, {a}, {c}, ActivationAttributes{}},
      {OpKind::activation_backward, {a, b}, {c}, ActivationAttributes{}},
      {OpKind::gated, {a, b}, {c}, ActivationAttributes{}},
      {OpKind::gated_backward, {a, b, a}, {c, d}, ActivationAttributes{}},
      {OpKind::rope, {a, tokens}, {c}, RopeAttributes{19, 2, 40}},
      {OpKind::relative_bias, {relative}, {distances}, RelativeBiasAttributes{20}},
      {OpKind::relative_bias_backward, {distances}, {relative}, RelativeBiasAttributes{20}},
      {OpKind::select_row, {a, position}, {row}},
      {OpKind::store_rows, {row, position}, {b}, {}, {0}},
      {OpKind::scale, {a}, {c}, ScaleAttributes{0.5}},
      {OpKind::dequantize, {bytes}, {c}, DequantizeAttributes{Quantization::nf4}},
      {OpKind::column_sum, {a}, {sums}},
      {OpKind::embed, {tokens, table, table, tokens, tokens, table}, {c}, EmbedAttributes{19}},
      {OpKind::embed_backward,
       {tokens, a, tokens, tokens},
       {words, places, kinds},
       EmbedAttributes{19},
       {0}},
      {OpKind::layernorm, {a, gamma, beta}, {c, rows, rows2}, NormAttributes{1e-5}},
      {OpKind::layernorm_backward, {b, a, gamma, rows, rows2, a}, {c, sums, sums2}},
      {OpKind::rmsnorm, {a, gamma}, {c, rows}, NormAttributes{1e-5}},
      {OpKind::rmsnorm_backward, {b, a, gamma, rows, a}, {c, sums}},
      {OpKind::dropout, {a, samples}, {c}, DropoutAttributes{0.5, 19, 1, 2}},
      {OpKind::square_norm, {g}, {norm}, UpdateRange{}},
      {OpKind::adamw, {g, control}, {parameter, rest, m, v}, AdamWAttributes{}},
      {OpKind::adamw_8bit,
       {g, control},
       {parameter, rest, m_code, m_scale, v_code, v_scale},
       AdamWAttributes{}},
      {OpKind::lion, {g, control}, {parameter, rest, m}, LionAttributes{}},
      {OpKind::sgd, {g, control}, {parameter, rest, m}, SgdAttributes{0.5, 0.1, {}}},
      {OpKind::adafactor, {g, control}, {parameter, rest, averages}, AdafactorAttributes{}},
      {OpKind::muon, {g, control}, {parameter, rest, momentum, averages}, MuonAttributes{}},
  };
}

}  // namespace spillway::test
