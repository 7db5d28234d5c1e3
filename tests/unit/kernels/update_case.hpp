// An update of a chunk of odd sizes by the kernel of an optimizer.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/bf16.hpp"
#include "base/math.hpp"
#include "tests/support/kernel_harness.hpp"
#include "tests/unit/kernels/update_reference.hpp"

namespace spillway::test {

struct UpdateTypes {
  DType parameter, gradient, moment;
  OpKind kind = OpKind::adamw;
  double momentum = 0.75;  // of sgd

  std::string text() const {
    std::string const with = kind == OpKind::sgd && momentum == 0 ? "without_momentum_" : "";
    return std::string(name(kind)) + "_" + with + std::string(name(parameter)) + "_" +
           std::string(name(gradient)) + "_" + std::string(name(moment));
  }
};

// All optimizers, in the types that they may have.
inline std::vector<UpdateTypes> update_types() {
  std::vector<UpdateTypes> all;
  using enum DType;
  for (auto const kind : {OpKind::adamw, OpKind::adamw_8bit, OpKind::lion, OpKind::sgd})
    for (auto const parameter : {f32, bf16})
      for (auto const gradient : {f32, bf16})
        for (auto const moment : {f32, bf16})
          if (kind != OpKind::adamw_8bit || moment == f32)
            all.push_back({parameter, gradient, moment, kind});
  all.push_back({f32, f32, f32, OpKind::sgd, 0});
  all.push_back({bf16, bf16, f32, OpKind::sgd, 0});
  return all;
}

struct Update {
  UpdateTypes types;
  KernelHarness h;
  Chunk chunk;
  View gradient, control, parameter, remainder;
  std::vector<View> states;  // in the order of the op's outputs

  explicit Update(UpdateTypes const& t, std::vector<std::int64_t> const& sizes = {9001, 83, 1, 768})
      : types(t),
        chunk(h.chunk(sizes, is_8bit() ? kQuantizedBlock : kParameterAlignment)),
        gradient(h.tensor(t.gradient, {chunk.elements})),
        control(h.tensor(DType::f64, {kControlWords})),
        parameter(h.tensor(t.parameter, {chunk.elements})),
        remainder(h.tensor(DType::i16, {chunk.elements})) {
    if (is_8bit()) {
      add_8bit();
      add_8bit();
    } else {
      int const moments = t.kind == OpKind::adamw                    ? 2
                          : t.kind == OpKind::sgd && t.momentum == 0 ? 0
                                                                     : 1;
      for (int i = 0; i < moments; ++i) states.push_back(h.tensor(t.moment, {chunk.elements}));
    }
    for (auto const& p : chunk.parameters) {
      h.fill_normal(in(parameter, p), 0.02);
      h.fill_integers(in(remainder, p), -0x8000, 0x8000);
      for (auto const& state : states) {
        auto const part = in(state, p);
        h.set_all(part, std::vector<double>(static_cast<std::size_t>(element_count(part.shape))));
      }
    }
    set_op(0, chunk.elements);
  }

  bool is_8bit() const { return types.kind == OpKind::adamw_8bit; }
  std::vector<View> changed() const {
    std::vector<View> all = {parameter, remainder};
    all.insert(all.end(), states.begin(), states.end());
    return all;
  }

  // The window of a parameter in a tensor that has an element for each of the chunk's, or for each
  // block of them.
  View in(View const& tensor, Parameter const& p) const {
    auto const block = chunk.elements / element_count(tensor.shape);
    return {
        tensor.tensor, p.view.offset / block, {div_ceil(element_count(p.view.shape), block)}, {1}};
  }

  // From now on the op updates the elements [first, last) of the chunk.
  void set_op(std::int64_t first, std::int64_t last) {
    auto const part = [&](View const& tensor) -> View {
      auto const block = chunk.elements / element_count(tensor.shape);
      return {tensor.tensor, first / block, {div_ceil(last - first, block)}, {1}};
    };
    bool const split = types.parameter == DType::bf16;
    std::vector<View> outputs = {part(parameter), split ? part(remainder) : View{}};
    for (auto const& state : states) outputs.push_back(part(state));
    if (types.kind == OpKind::sgd && states.empty()) outputs.push_back(View{});
    h.op(types.kind, {part(gradient), control}, outputs, attributes(first));
  }

  void begin_step(int step, bool go = true) {
    for (auto const& p : chunk.parameters) h.fill_normal(in(gradient, p), 10);
    h.set(in(gradient, chunk.parameters[0]), 0, 0);
    h.set_all(control, {go ? 1.0 : 0.0, kScale, kLr, 1 - std::pow(kBeta1, step),
                        1 - std::pow(kBeta2, step), static_cast<double>(step), 0, 0});
  }
  void run() { h.run(host::kernel(types.kind)); }
  void expect_same_on_both_lanes() const {
    for (auto const& output : changed()) h.expect_same_bytes(output);
  }

  // The masters of a parameter before the last run or after it, in fp64.
  std::vector<double> masters(Parameter const& p, bool after) const {
    auto const of = [&](View const& tensor) {
      return after ? h.results(in(tensor, p)) : h.contents(in(tensor, p));
    };
    auto values = of(parameter);
    auto const rest = of(remainder);
    for (std::size_t i = 0; i < values.size() && types.parameter == DType::bf16; ++i)
      values[i] =
          join_master(to_bf16(static_cast<float>(values[i])), static_cast<std::int16_t>(rest[i]));
    return values;
  }
  std::vector<Reference> references() const {
    std::vector<Reference> all;
    for (auto const& p : chunk.parameters)
      all.push_back({types.kind, types.momentum, p.decay, masters(p, false)});
    return all;
  }

  static constexpr double kScale = 0.125;  // of gradients

 private:
  void add_8bit() {
    states.push_back(h.tensor(DType::u8, {chunk.elements}));
    states.push_back(h.tensor(DType::f32, {chunk.elements / kQuantizedBlock}));
  }
  Attributes attributes(std::int64_t first) const {
    UpdateRange const range{first};
    if (types.kind == OpKind::lion) return LionAttributes{kBeta1, kBeta2, kDecay, range};
    if (types.kind == OpKind::sgd) return SgdAttributes{types.momentum, kDecay, range};
    return AdamWAttributes{kBeta1, kBeta2, kEps, kDecay, 1, range};
  }
};

}  // namespace spillway::test
