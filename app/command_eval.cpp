#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/device_backend.hpp"
#include "app/devices.hpp"
#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/math.hpp"
#include "base/standard_streams.hpp"
#include "base/work_progress.hpp"
#include "comm/on_all_ranks.hpp"
#include "config/load.hpp"
#include "generate/session.hpp"
#include "huggingface/import_model.hpp"
#include "io/tokens/used_tokenizer.hpp"
#include "model/model.hpp"
#include "report/progress.hpp"
#include "run/agreed_products.hpp"
#include "run/compute_here.hpp"
#include "run/prepare.hpp"
#include "samples/batches.hpp"
#include "samples/data.hpp"
#include "samples/same_data.hpp"
#include "samples/text_use.hpp"
#include "state/checkpoints.hpp"
#include "state/resume.hpp"
#include "state/run_state.hpp"
#include "state/same_start.hpp"
#include "train/evaluate.hpp"

namespace spillway {

namespace {

// Returns the graph of the evaluation, whose products are made as all ranks agree.
Graph agreed_graph(Config const& config, ComputeHere const& compute, RunState const& state,
                   Comm& comm) {
  Graph graph;
  on_all_ranks(comm, [&] {
    graph = eval_graph(
        config, state.vocab,
        make_arithmetic(config, compute.choices(), comm.size(), compute->kernels.target));
  });
  graph.arithmetic.products =
      agreed_products(std::array{&std::as_const(graph)}, *compute, state.arithmetic.products, comm);
  return graph;
}

// Returns how many tokens of the text the evaluation has read. Throws Error(bad_input) if none of
// them was to be predicted.
std::int64_t tokens_read(LossSums const& sums, SampledText const& text, std::int64_t windows) {
  auto const read = text.windows.used_tokens(text.tokens, 0, windows);
  if (sums.mean()) return read;
  throw Error(Status::bad_input,
              fmt::format("data.valid: {}: nothing to predict in the {} tokens that were read; "
                          "give more text",
                          text.tokens.files().front().path().string(), read));
}

LossSums evaluated(Engine& engine, std::int64_t batches, Comm& comm) {
  if (comm.rank() != 0) return evaluate(engine, batches, comm, {});
  WorkProgress progress({"eval", "batches", batches});
  return evaluate(engine, batches, comm, [&](std::int64_t done, LossSums const& so_far) {
    progress.at(done, fmt::format("loss {} so far", loss_text(so_far)));
  });
}

}  // namespace

Status run_eval(EvalArguments const& arguments, Comm& comm) {
  Config config;
  std::optional<Resumption> start;
  std::string place;  // the checkpoint's directory
  std::optional<SampledText> text;
  RunState state;
  Recipe recipe;
  on_all_ranks(comm, [&] {
    config = load_config(arguments.input, arguments.overrides, where_it_computes, import_model);
    config.batch.share.clear();  // the shares are those of a training run's ranks
    start = open_start(arguments.checkpoint, base_places(config, arguments.base));
    place = start->checkpoint.string();
    if (comm.rank() == 0 && start->reader) warn_of_foreign_files(*start->reader);
    state = start->state;
    require_same_model(place, state, config,
                       config.model.vocab != 0 ? config.model.vocab : state.vocab);
    recipe = recipe_of(config, objective_of(config), state.vocab, state.tokenizer);
    text = open_valid(config, state.vocab, recipe);
    auto const& valid = text->tokens.files().front();
    require_same_tokenizer("data.valid: " + valid.path().string(), tokenizer_of(valid.layout()),
                           place, {state.tokenizer, state.tokenizer_checksum});
  });
  comm.set_patience(config.run.peer_timeout_s);
  require_same_config(comm, config);
  require_same_checkpoint(comm, arguments.checkpoint, &state);
  require_same_files(comm, "data.valid", text->tokens);

  ComputeHere const compute(config, run_cores(comm), nullptr, device_backend(config), comm);
  log_info("computes on {}", compute.where());
  auto const& choices = compute.choices();
  BatchShape const shape{choices.micro * comm.size(), choices.micro, comm.rank(), comm.size()};
  auto const windows =
      std::min(text->windows.count(),
               clamped_product(arguments.batches.value_or(kMostBatches), config.batch.sequences));
  EvalBatches batches(*text, recipe, shape, windows);
  auto graph = agreed_graph(config, compute, state, comm);
  std::optional<InferenceSession> session;
  on_all_ranks(comm, [&] {
    session.emplace(config, std::vector{std::move(graph)}, *start, batches, *compute, comm);
  });

  auto const count = div_ceil(windows, shape.sequences);
  on_all_ranks(comm, [&] {
    if (comm.rank() != 0) return;
    say(fmt::format("eval: {} sequences in {} batches", windows, count));
    if (windows < text->windows.count()) return;
    auto const unused = describe_unused(*text, recipe, "data.valid");
    if (!unused.empty()) log_info("{}", unused);
  });
  auto const sums = evaluated(session->engine(), count, comm);
  std::int64_t read = 0;
  on_all_ranks(comm, [&] { read = tokens_read(sums, *text, windows); });
  auto const loss = *sums.mean();
  if (!std::isfinite(loss)) {
    if (comm.rank() == 0)
      log_error("{}: the loss is not finite: weights are not, or become too large on the way",
                place);
    return Status::non_finite;
  }
  on_all_ranks(comm, [&] {
    if (comm.rank() != 0) return;
    print_result(
        fmt::format("loss {:.6f}  perplexity {:.4f}  tokens {}  targets {}  ({} of step {})\n",
                    loss, std::exp(loss), read, sums.targets(), place, state.step));
  });
  return Status::done;
}

}  // namespace spillway
