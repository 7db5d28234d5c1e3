#include "model/layers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/error.hpp"
#include "base/math.hpp"
#include "base/spelling.hpp"
#include "graph/flops.hpp"

namespace spillway {
namespace {

constexpr Init kZeros{Init::Kind::zeros}, kOnes{Init::Kind::ones};

// Names what belongs to one of the layers side by side that the op `op` multiplies by.
std::string part_of(std::string const& op, std::string const& layer, std::size_t layers) {
  return layers > 1 ? op + layer.substr(layer.rfind('.')) : op;
}

}  // namespace

Layers::Layers(Config const& config, std::int64_t vocab, Orientation orientation, bool has_biases,
               Graph& graph)
    : m_config(config),
      m_graph(graph),
      m_builder(graph),
      m_drops(graph.purpose == Purpose::train &&
              (config.model.dropout > 0 || config.model.attention_dropout > 0 ||
               config.model.lora.dropout > 0)),
      m_has_biases(has_biases),
      m_dtype(stored_dtype(graph.arithmetic.precision)),
      m_vocab(vocab),
      m_orientation(orientation),
      m_freeze(config.model),
      m_targets(config.model) {}

void Layers::finish() {
  m_targets.require_all_used();
  if (!generates()) m_freeze.require_use();  // nothing is trained there
  if (m_config.model.quantize != Quantization::none && !m_quantizes)
    throw Error(Status::bad_input,
                "model.quantize: no matrix of a layer is frozen; name some in model.freeze, or "
                "leave it out");
  m_builder.finish();
}

// A sequence to generate from is one document without padding, so its batch has no documents.
Stack Layers::add_stack(std::int64_t sequence, StackFields const& fields) {
  bool const caches = generates() && fields.causal, packs = m_config.data.pack && !generates();
  Stack const stack{m_stacks++, sequence, caches ? m_graph.decoding.capacity : 0};
  m_builder.add_batch(BatchField::tokens, stack);
  if (packs || (fields.padding && !generates())) m_builder.add_batch(BatchField::documents, stack);
  if (packs || caches) m_builder.add_batch(BatchField::positions, stack);
  if (fields.token_types) m_builder.add_batch(BatchField::token_types, stack);
  return stack;
}

void Layers::add_objective(Stack const& stack) {
  m_objective = stack.number;
  auto& known = m_graph.known;
  if (generates()) {
    m_builder.add_batch(BatchField::position, stack);
    known.logits = m_builder.add_tensor("logits", Role::scalar, DType::f32, {1, m_vocab}).tensor;
    return;
  }
  m_builder.add_batch(BatchField::targets, stack);
  m_builder.add_batch(BatchField::weights, stack);
  if (m_drops) m_builder.add_batch(BatchField::samples, {});
  known.loss = m_builder.add_tensor("loss", Role::scalar, DType::f64, {2}).tensor;
}

View Layers::whole_tensor(TensorId id) const {
  return whole(m_graph.tensors[id]);
}

View Layers::batch_if_there(BatchField field, int stack) const {
  auto const tensor = m_graph.known.of(field, stack);
  return tensor >= 0 ? whole_tensor(tensor) : View{};
}

Layers::Kept Layers::kept(std::vector<GraphBuilder::NewParameter> const& parameters) {
  std::vector<std::string> names;
  for (auto const& parameter : parameters) names.push_back(parameter.name);
  return m_freeze.freezes(names) ? Kept::frozen : Kept::trained;
}

int Layers::chunk_of(Kept kept) {
  auto& id = m_chunk.of[kept];
  if (id) return *id;
  bool const is_first = m_graph.chunks[m_chunk.first].parameters.empty();
  id = is_first ? m_chunk.first
                : m_builder.add_chunk(fmt::format("{}.{}", m_chunk.name, word(kept)));
  auto& chunk = m_graph.chunks[*id];
  chunk.trainable = kept == Kept::trained;
  if (kept == Kept::quantized) m_graph.tensors[chunk.parameter].dtype = DType::u8;
  return *id;
}

View Layers::fused(std::vector<GraphBuilder::NewParameter> const& parameters, bool decay) {
  return m_builder.add_fused(chunk_of(kept(parameters)), parameters,
                             decay || m_config.optim.decay_all);
}

View Layers::parameter(std::string const& name, Shape shape, Init init, bool decay) {
  return fused({{name, std::move(shape), init}}, decay);
}

View Layers::vector(std::string const& name, std::int64_t n) {
  return parameter(name, {n}, kZeros, false);
}

View Layers::embedding(std::string const& name, std::int64_t rows, Init init) {
  return parameter(name, {rows, m_config.model.hidden}, init, m_config.optim.decay_embeddings);
}

View Layers::matrix(std::string const& name, Shape shape, Init init) {
  return parameter(name, std::move(shape), init, true);
}

View Layers::activation(std::string const& name, std::int64_t rows, std::int64_t columns) {
  return m_builder.add_tensor(name, Role::activation, m_dtype, {rows, columns});
}

View Layers::embed(std::string const& op, Stack const& stack, View const& wte, View const& wpe,
                   View const& wtt) {
  auto const tokens = batch(BatchField::tokens, stack.number);
  auto const positions =
      is_present(wpe) ? batch_if_there(BatchField::positions, stack.number) : View{};
  auto const types =
      is_present(wtt) ? batch_if_there(BatchField::token_types, stack.number) : View{};
  auto const x = activation(op, tokens.shape[0], wte.shape[1]);
  append<OpKind::embed>(op,
                        {.tokens = tokens,
                         .wte = wte,
                         .wpe = wpe,
                         .positions = positions,
                         .types = types,
                         .wtt = wtt,
                         .x = x},
                        EmbedAttributes{stack.sequence});
  return x;
}

View Layers::layernorm(std::string const& op, std::string const& name, View const& x) {
  auto const rows = x.shape[0], columns = x.shape[1];
  auto const gamma = parameter(name + ".weight", {columns}, kOnes, false);
  auto const beta = m_has_biases ? vector(name + ".bias", columns) : View{};
  auto const y = activation(op, rows, columns);
  auto const mean = m_builder.add_tensor(op + ".mean", Role::activation, DType::f32, {rows});
  auto const rstd = m_builder.add_tensor(op + ".rstd", Role::activation, DType::f32, {rows});
  append<OpKind::layernorm>(
      op, {.x = x, .gamma = gamma, .beta = beta, .y = y, .mean = mean, .rstd = rstd},
      NormAttributes{m_config.model.norm_eps});
  return y;
}

View Layers::rmsnorm(std::string const& op, std::string const& name, View const& x,
                     std::int64_t columns) {
  auto const rows = x.shape[0], groups = div_exact(x.shape[1], columns);
  auto const gamma = parameter(name + ".weight", {columns}, kOnes, false);
  auto const y = activation(op, rows, x.shape[1]);
  auto const rstd =
      m_builder.add_tensor(op + ".rstd", Role::activation, DType::f32, {rows, groups});
  append<OpKind::rmsnorm>(op, {.x = x, .gamma = gamma, .y = y, .rstd = rstd},
                          NormAttributes{m_config.model.norm_eps});
  return y;
}

View Layers::weights(std::string const& op, std::vector<Projection> const& projections,
                     std::int64_t rows) {
  bool const is_turned = m_orientation == Orientation::in_out;
  check(!is_turned || projections.size() == 1, "a product",
        "only matrices as [out, in] lie side by side");
  std::vector<GraphBuilder::NewParameter> all;
  for (auto const& [name, columns, init] : projections)
    all.push_back(
        {name + ".weight", is_turned ? Shape{rows, columns} : Shape{columns, rows}, init});
  auto const kept = this->kept(all);
  bool const quantizes =
      m_config.model.quantize != Quantization::none && m_graph.blocks.back().layer;
  if (quantizes && kept == Kept::frozen) return dequantized(op, all);
  constexpr bool decayed = true;
  auto const w = m_builder.add_fused(chunk_of(kept), all, decayed);
  return is_turned ? w : transposed(w);
}

View Layers::dequantized(std::string const& op,
                         std::vector<GraphBuilder::NewParameter> const& parameters) {
  m_quantizes = true;
  auto const form = m_config.model.quantize;
  std::vector<Quantized> all;
  std::int64_t rows = 0;
  for (auto const& parameter : parameters) {
    all.push_back({form, parameter.shape, m_orientation == Orientation::in_out});
    rows += all.back().rows();
  }
  auto const w = activation(op + ".weights", rows, all.front().columns());
  std::int64_t first = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const& [name, shape, init] = parameters[i];
    auto const bytes = m_builder.add_quantized(chunk_of(Kept::quantized), name, all[i], init);
    append<OpKind::dequantize>(part_of(op, module_of(name), all.size()) + ".dequantize",
                               {.bytes = bytes, .w = row_range(w, first, all[i].rows())},
                               DequantizeAttributes{form});
    first += all[i].rows();
  }
  return transposed(w);
}

View Layers::biases(std::vector<Projection> const& projections) {
  std::vector<GraphBuilder::NewParameter> all;
  for (auto const& [name, columns, init] : projections)
    all.push_back({name + ".bias", {columns}, kZeros});
  return fused(all, false);
}

View Layers::product(std::string const& op, std::vector<Projection> const& projections,
                     View const& x, bool bias, View const& addend) {
  auto const w = weights(op, projections, x.shape[1]);
  auto const b = bias ? biases(projections) : View{};
  auto const y = activation(op, x.shape[0], w.shape[1]);
  append<OpKind::matmul>(op, {.a = x, .b = w, .bias = b, .addend = addend, .c = y}, {},
                         matmul_flops(x, w));
  adapt(op, projections, x, y);
  return y;
}

bool Layers::has_adapters(std::vector<Projection> const& projections) {
  return std::ranges::any_of(projections,
                             [&](auto const& layer) { return m_targets.adapts(layer.name); });
}

// Adds what adapters make of x to the columns of their layers in y.
void Layers::adapt(std::string const& op, std::vector<Projection> const& projections, View const& x,
                   View const& y) {
  std::int64_t first = 0;
  for (auto const& layer : projections) {
    if (m_targets.adapts(layer.name))
      add_adapter(part_of(op, layer.name, projections.size()), layer, x,
                  columns(y, first, layer.columns));
    first += layer.columns;
  }
}

// A starts as PEFT's does, within 1 / sqrt(inputs) of 0, and B as zeros.
void Layers::add_adapter(std::string const& op, Projection const& layer, View const& x,
                         View const& y) {
  auto const& [rank, alpha, targets, dropout] = m_config.model.lora;
  auto const inputs = x.shape[1];
  Init const uniform{Init::Kind::uniform, 1 / std::sqrt(3 * static_cast<double>(inputs))};
  auto const a = transposed(matrix(adapter_a(layer.name), {rank, inputs}, uniform));
  auto const b = transposed(matrix(adapter_b(layer.name), {layer.columns, rank}, kZeros));
  auto const read = dropped(op + ".lora_drop", x, dropout);
  auto inner = activation(op + ".lora_A", x.shape[0], rank);
  append<OpKind::matmul>(op + ".lora_A", {.a = read, .b = a, .c = inner}, {},
                         matmul_flops(read, a));
  if (auto const factor = alpha / static_cast<double>(rank); factor != 1) {
    auto const scaled = activation(op + ".lora_scale", x.shape[0], rank);
    append<OpKind::scale>(op + ".lora_scale", {.x = inner, .y = scaled}, ScaleAttributes{factor});
    inner = scaled;
  }
  append<OpKind::matmul>(op + ".lora_B", {.a = inner, .b = b, .c = y}, {}, matmul_flops(inner, b));
  if (m_runs_ops) set_in_place(m_graph.ops.back(), y.tensor, true);
}

View Layers::residual(std::string const& op, Projection const& projection, View const& branch,
                      View const& x) {
  if (!drops_branches()) return product(op, {projection}, branch, m_has_biases, x);
  return joined(op, product(op, {projection}, branch, m_has_biases, {}), x);
}

View Layers::joined(std::string const& op, View const& branch, View const& x) {
  auto const y = dropout(op + ".drop", branch);
  auto const sum = activation(op + ".add", x.shape[0], x.shape[1]);
  append<OpKind::add>(op + ".add", {.a = x, .b = y, .c = sum});
  return sum;
}

View Layers::mlp(Mlp const& mlp, View const& x, View const& stream) {
  constexpr auto name = "mlp";
  auto const chunk = m_graph.arithmetic.mlp_chunk;
  bool const adapted = has_adapters(mlp.in) || has_adapters({mlp.out});
  if (adapted && m_config.batch.mlp_chunk.value_or(0) > 0) {
    throw Error(Status::bad_input,
                "batch.mlp_chunk: an MLP with adapters takes all rows at once; leave it out, or "
                "leave its layers out of model.lora.targets");
  }
  if (chunk > 0 && x.shape[0] > chunk && !generates() && !adapted) {
    if (!drops_branches()) return mlp_by_tiles(mlp, x, stream);
    return joined(name, mlp_by_tiles(mlp, x, {}), stream);
  }
  auto const in = linear(mlp.in_op, mlp.in, x);
  bool const is_gated = mlp.in.size() > 1;
  auto active = is_gated ? gated(mlp.act_op, in, mlp.form) : activate(mlp.act_op, in, mlp.form);
  if (mlp.drops_inside) active = dropout(mlp.act_op + ".drop", active);
  return residual(name, mlp.out, active, stream);
}

View Layers::mlp_by_tiles(Mlp const& mlp, View const& x, View const& addend) {
  auto const w_in = weights(mlp.in_op, mlp.in, x.shape[1]);
  auto const bias_in = m_has_biases ? biases(mlp.in) : View{};
  auto const inner = mlp.in.front().columns;
  auto const w_out = weights("mlp", {mlp.out}, inner);
  auto const bias_out = m_has_biases ? biases({mlp.out}) : View{};
  bool const drops = mlp.drops_inside && drops_branches();
  auto const rows = x.shape[0];
  MlpAttributes const attributes{
      .chunk = m_graph.arithmetic.mlp_chunk,
      .form = mlp.form,
      .gated = mlp.in.size() > 1,
      .dropout = drops ? next_dropout(rows, m_config.model.dropout) : DropoutAttributes{}};
  auto const y = activation("mlp", rows, mlp.out.columns);
  append<OpKind::mlp>("mlp",
                      {.x = x,
                       .w_in = w_in,
                       .bias_in = bias_in,
                       .w_out = w_out,
                       .bias_out = bias_out,
                       .addend = addend,
                       .samples = drops ? batch(BatchField::samples) : View{},
                       .y = y},
                      attributes, matmul_flops(x, w_in) + matmul_flops(y, transposed(w_out)));
  return y;
}

View Layers::rope(std::string const& op, View const& x, Stack const& stack,
                  RopeAttributes attributes) {
  attributes.sequence = stack.sequence;
  auto const y = activation(op, x.shape[0], x.shape[1]);
  auto const positions = batch_if_there(BatchField::positions, stack.number);
  append<OpKind::rope>(op, {.x = x, .positions = positions, .y = y}, attributes);
  return y;
}

View Layers::relative_bias(std::string const& op, std::string const& name, Stack const& stack,
                           bool bidirectional, Init init) {
  auto const& model = m_config.model;
  auto const places = stack.cache_rows > 0 ? stack.cache_rows : stack.sequence;
  auto const table = parameter(name, {model.relative_buckets, model.heads}, init, false);
  auto const bias =
      m_builder.add_tensor(op, Role::activation, DType::f32, {model.heads, 2 * places - 1});
  append<OpKind::relative_bias>(op, {.table = table, .distance_bias = bias},
                                RelativeBiasAttributes{.queries = places,
                                                       .max_distance = model.relative_max_distance,
                                                       .bidirectional = bidirectional});
  return bias;
}

View Layers::cached(std::string const& op, View const& x, Stack const& stack) {
  auto const cache = m_builder.add_tensor(op, Role::cache, m_dtype, {stack.cache_rows, x.shape[1]});
  append<OpKind::store_rows>(
      op, {.x = x, .positions = batch(BatchField::positions, stack.number), .cache = cache});
  check(m_runs_ops, op, "a cache is filled by an op that does not run");
  set_in_place(m_graph.ops.back(), cache.tensor, true);
  return cache;
}

View Layers::attention(std::string const& op, View const& q, View const& k, View const& v,
                       Stack const& queries, Stack const& keys, Heads const& heads,
                       View const& distance_bias) {
  auto const& arithmetic = m_graph.arithmetic;
  bool const caches = heads.causal && keys.cache_rows > 0;
  auto const all_k = caches ? cached(op + ".k", k, keys) : k;
  auto const all_v = caches ? cached(op + ".v", v, keys) : v;
  bool const drops = m_drops && m_config.model.attention_dropout > 0;
  AttentionAttributes const attributes{.batch = arithmetic.micro,
                                       .queries = queries.sequence,
                                       .keys = caches ? keys.cache_rows : keys.sequence,
                                       .heads = heads.heads,
                                       .kv_heads = heads.kv_heads,
                                       .head_size = heads.head_size,
                                       .causal = heads.causal,
                                       .window = heads.window,
                                       .scale = heads.scale,
                                       .tile = arithmetic.attention_tile,
                                       .dropout = drops ? m_config.model.attention_dropout : 0,
                                       .seed = drops ? m_graph.seed : 0,
                                       .origin = drops ? m_graph.ops.size() : 0};
  auto const o = activation(op, q.shape[0], q.shape[1]);
  auto const lse = m_builder.add_tensor(op + ".lse", Role::activation, DType::f32,
                                        {attributes.batch, attributes.heads, attributes.queries});
  auto const documents = [&](Stack const& stack) {
    return batch_if_there(BatchField::documents, stack.number);
  };
  append<OpKind::attention>(
      op,
      {.q = q,
       .k = all_k,
       .v = all_v,
       .segments_q = documents(queries),
       .segments_k = documents(keys),
       .distance_bias = distance_bias,
       .samples = drops ? batch(BatchField::samples) : View{},
       .positions = caches ? batch(BatchField::positions, queries.number) : View{},
       .o = o,
       .lse = lse},
      attributes, attention_flops(attributes));
  return o;
}

View Layers::activate(std::string const& op, View const& x, Activation form) {
  auto const y = activation(op, x.shape[0], x.shape[1]);
  append<OpKind::activation>(op, {.f = x, .g = y}, ActivationAttributes{form});
  return y;
}

View Layers::gated(std::string const& op, View const& x, Activation form) {
  auto const n = div_exact<std::int64_t>(x.shape[1], 2);
  auto const y = activation(op, x.shape[0], n);
  append<OpKind::gated>(op, {.gate = columns(x, 0, n), .up = columns(x, n, n), .y = y},
                        ActivationAttributes{form});
  return y;
}

View Layers::dropout(std::string const& op, View const& x) {
  return dropped(op, x, m_config.model.dropout);
}

View Layers::dropped(std::string const& op, View const& x, double p) {
  if (!m_drops || p == 0) return x;
  auto const y = activation(op, x.shape[0], x.shape[1]);
  append<OpKind::dropout>(op, {.x = x, .samples = batch(BatchField::samples), .y = y},
                          next_dropout(x.shape[0], p));
  return y;
}

DropoutAttributes Layers::next_dropout(std::int64_t rows, double p) const {
  return {.p = p,
          .sequence = div_exact(rows, m_graph.arithmetic.micro),
          .seed = m_graph.seed,
          .origin = m_graph.ops.size()};
}

View Layers::keep_for_later_steps(View const& x) {
  auto& tensor = m_graph.tensors[x.tensor];
  if (generates()) tensor.role = Role::cache, tensor.persistent = true;
  return x;
}

View Layers::selected(std::string const& op, View const& x) {
  if (!generates()) return x;
  auto const row = activation(op, 1, x.shape[1]);
  append<OpKind::select_row>(
      op, {.x = x, .position = batch(BatchField::position, m_objective), .row = row});
  return row;
}

void Layers::head(View const& x, View const& w, View const& bias, double scale) {
  auto const flops = matmul_flops(x, transposed(w));
  if (generates()) {
    auto const logits = whole_tensor(m_graph.known.logits);
    auto const product =
        scale == 1 ? logits
                   : m_builder.add_tensor("product", Role::activation, DType::f32, logits.shape);
    append<OpKind::matmul>("logits", {.a = x, .b = transposed(w), .bias = bias, .c = product}, {},
                           flops);
    if (scale != 1)
      append<OpKind::scale>("scale", {.x = product, .y = logits}, ScaleAttributes{scale});
    return;
  }
  auto const losses = m_builder.add_tensor("losses", Role::activation, DType::f32, {x.shape[0]});
  append<OpKind::lm_head_loss>("loss",
                               {.x = x,
                                .w = w,
                                .targets = batch(BatchField::targets, m_objective),
                                .weights = batch(BatchField::weights, m_objective),
                                .bias = bias,
                                .losses = losses,
                                .loss = whole_tensor(m_graph.known.loss)},
                               LmHeadAttributes{m_graph.arithmetic.loss_chunk, scale}, flops);
}

}  // namespace spillway
