#include "run/prepare.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "graph/build.hpp"
#include "kernels/host/product.hpp"
#include "kernels/host/workspaces.hpp"
#include "model/model.hpp"
#include "samples/batch_shape.hpp"
#include "version.hpp"

namespace spillway {
namespace {

void ask_workspaces(Graph& graph) {
  size_workspaces(graph, [](Graph const& all, Op const& op) {
    return workspace_bytes({all.tensors, all.chunks, all.arithmetic}, op);
  });
}

}  // namespace

Choices choose(Config const& config, Arithmetic const* checkpoint, std::int64_t cores,
               std::int64_t ranks, TeamLimit const& limit) {
  auto const most = largest_micro(config.batch, ranks);
  auto const by_rows = std::max<std::int64_t>(1, kMicroRows / config.data.sequence);
  Choices automatic{std::max<std::int64_t>(1, cores),
                    fullest_micro(config.batch, ranks, std::min(most, by_rows))};
  if (checkpoint != nullptr)
    automatic = {.threads = checkpoint->threads,
                 .micro = checkpoint->micro,
                 .mlp_chunk = checkpoint->mlp_chunk};
  if (config.run.threads) require_within(limit, *config.run.threads);
  auto const micro = config.batch.micro.value_or(automatic.micro);
  batch_shape(config.batch, micro, 0, ranks);  // refuses shares that cannot be
  bool const is_new = checkpoint == nullptr;
  return {
      .threads = config.run.threads.value_or(std::min(automatic.threads, limit.threads)),
      .micro = micro,
      .micro_is_free = !config.batch.micro && is_new,
      .mlp_chunk = config.batch.mlp_chunk.value_or(automatic.mlp_chunk),
      .mlp_is_free = !config.batch.mlp_chunk && is_new && config.data.sequence >= kLongSequence};
}

std::optional<Choices> with_less_memory(Choices choices) {
  if (choices.micro_is_free && choices.micro > 1) {
    choices.micro /= 2;
    return choices;
  }
  if (!choices.mlp_is_free || choices.mlp_chunk > 0) return std::nullopt;
  choices.mlp_chunk = kMlpRows;
  return choices;
}

std::string kernels_isa(Config const& config, std::string_view target) {
  if (target != kHostTarget) return std::string(target);
  return config.debug.kernels == KernelSet::portable ? host::kPortable : host::matmul_isa();
}

Arithmetic make_arithmetic(Config const& config, Choices const& choices, std::int64_t ranks,
                           std::string_view target) {
  Arithmetic arithmetic;
  arithmetic.build =
      fmt::format("{} {}, {}, {}", build::version, build::git_hash, build::compiler, build::flags);
  arithmetic.isa = kernels_isa(config, target);
  arithmetic.precision = config.precision;
  arithmetic.gradients = config.optim.gradients;
  arithmetic.reduction = config.optim.reduction.value_or(Reduction::last);
  arithmetic.moments = config.optim.moments;
  arithmetic.threads = choices.threads;
  arithmetic.ranks = ranks;
  arithmetic.micro = choices.micro;
  arithmetic.sequence = config.data.sequence;
  arithmetic.mlp_chunk = choices.mlp_chunk;
  arithmetic.share = config.batch.share;
  return arithmetic;
}

Graph training_graph(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic) {
  auto graph = build_model(config, vocab, arithmetic, Purpose::train);
  append_backward(graph);
  append_update(graph);
  ask_workspaces(graph);
  return graph;
}

Graph eval_graph(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic) {
  auto graph = build_model(config, vocab, arithmetic, Purpose::eval);
  ask_workspaces(graph);
  return graph;
}

Graph generate_graph(Config const& config, std::int64_t vocab, Arithmetic const& arithmetic,
                     Decoding const& decoding) {
  auto graph = build_generator(config, vocab, arithmetic, decoding);
  ask_workspaces(graph);
  return graph;
}

// In a bf16 sum of n equal numbers an ulp is n / 256 to n / 128 of one of them, so from the 257th
// number on, adding another one changes nothing.
std::string warning_of_narrow_sums(OptimConfig const& optim, std::int64_t micro_batches) {
  if (optim.gradients != Precision::bf16 || micro_batches <= kNarrowSums) return "";
  return fmt::format(
      "optim.gradients: bf16: sums over {} micro-batches are rounded after each of them, and what "
      "is less than 1/512 of a sum is lost; a larger batch.micro, or fp32, keeps it",
      micro_batches);
}

}  // namespace spillway
