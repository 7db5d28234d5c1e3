#include "generate/generator.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/error.hpp"
#include "comm/comm.hpp"
#include "model/model.hpp"
#include "run/agreed_products.hpp"
#include "run/prepare.hpp"

namespace spillway {
namespace {

std::vector<Graph> graphs_of(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                             std::vector<Decoding> const& decodings, Compute const& compute,
                             Comm& comm) {
  std::vector<Graph> graphs;
  for (auto const& one : decodings)
    graphs.push_back(generate_graph(config, vocab, arithmetic, one));
  for (auto& graph : graphs)
    graph.arithmetic.products =
        agreed_products(std::array{&std::as_const(graph)}, compute, arithmetic.products, comm);
  return graphs;
}

void copy_rows(std::span<std::int32_t const> tokens, std::span<std::int32_t> to) {
  if (tokens.size() != to.size())
    throw std::logic_error(
        fmt::format("{} tokens for a step with {} rows", tokens.size(), to.size()));
  std::ranges::copy(tokens, to.begin());
}

}  // namespace

void GenerateBatch::load(std::int64_t, std::int64_t, BatchBuffers const& to) {
  int const stack = inputs.empty() ? 0 : 1;
  if (stack == 1) copy_rows(inputs, to.get<BatchField::tokens>(0));
  copy_rows(tokens, to.get<BatchField::tokens>(stack));
  auto const positions = to.get<BatchField::positions>(stack);
  std::iota(positions.begin(), positions.end(), static_cast<std::int32_t>(position));
  std::ranges::fill(to.get<BatchField::token_types>(stack), 0);
  to.get<BatchField::position>(stack)[0] = static_cast<std::int32_t>(selected);
}

Generator::Generator(Config const& config, std::int64_t vocab, std::vector<std::int32_t> prompt,
                     std::int64_t more, Resumption const& start, Compute const& compute, Comm& comm)
    : m_arithmetic(
          make_arithmetic(config, {compute.concurrency(), 1}, comm.size(), compute.kernels.target)),
      m_decodings(decodings(config, vocab, std::ssize(prompt), more)),
      m_prompt(std::move(prompt)),
      m_session(config, graphs_of(config, vocab, m_arithmetic, m_decodings, compute, comm), start,
                m_batch, compute, comm),
      m_order(m_decodings.front()) {
  if (objective_of(config) == Objective::spans) m_batch.inputs = m_prompt;
}

std::span<float const> Generator::logits_after(std::span<std::int32_t const> tokens) {
  std::span<float const> logits;
  do {
    auto const step = m_order.next(std::ssize(tokens));
    m_batch.tokens =
        tokens.subspan(static_cast<std::size_t>(step.token), static_cast<std::size_t>(step.rows));
    m_batch.position = step.position;
    m_batch.selected = step.rows - 1;
    logits = run(step.of_prompt ? 0 : 1);
  } while (!m_order.has(std::ssize(tokens)));
  return logits;
}

std::span<float const> Generator::logits_at(std::int64_t row) {
  m_batch.tokens = m_prompt;
  m_batch.selected = row;
  return run(0);
}

std::span<float const> Generator::run(std::size_t graph) {
  auto& engine = m_session.engine(graph);
  engine.run_step(m_steps++);
  engine.finish();
  auto const bytes = engine.bytes(m_session.graph(graph).known.logits);
  std::span const logits(reinterpret_cast<float const*>(bytes.data()),
                         bytes.size() / sizeof(float));
  if (!std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); }))
    throw Error(Status::non_finite,
                "the logits are not finite: weights are not, or become too large on the way");
  return logits;
}

}  // namespace spillway
