#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/device_backend.hpp"
#include "app/devices.hpp"
#include "app/eval_rows.hpp"
#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/math.hpp"
#include "base/standard_streams.hpp"
#include "base/work_progress.hpp"
#include "comm/on_all_ranks.hpp"
#include "config/load.hpp"
#include "generate/session.hpp"
#include "huggingface/adapter_directory.hpp"
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

// Throws Error(bad_input) if none of the text's tokens was to be predicted.
void require_targets(TextLoss const& loss, std::string const& name) {
  if (loss.learned.mean()) return;
  throw Error(Status::bad_input,
              fmt::format("data.valid: {}: nothing to predict in the {} tokens that were read; "
                          "give more text",
                          name, loss.tokens));
}

LossSums evaluated(Engine& engine, std::int64_t batches, Comm& comm) {
  if (comm.rank() != 0) return evaluate(engine, batches, comm, {});
  WorkProgress progress({"eval", "batches", batches});
  return evaluate(engine, batches, comm, [&](std::int64_t done, LossSums const& so_far) {
    progress.at(done, fmt::format("loss {} so far", loss_text(so_far)));
  });
}

// The batches of one text after the other.
class TextBatches final : public BatchSource {
 public:
  // `batches` must outlive this object, or the next call. No engine may run.
  void take(EvalBatches& batches) { m_batches = &batches; }
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override {
    m_batches->load(step, micro_batch, to);
  }

 private:
  EvalBatches* m_batches = nullptr;
};

// What all checkpoints have in common.
struct EvalTask {
  EvalArguments const& arguments;
  Config const& config;
  Comm& comm;
  std::optional<ComputeHere>& compute;  // from the first checkpoint on
};

// An EvalModel is a checkpoint with the texts on which its model is evaluated.
class EvalModel {
 public:
  EvalModel(EvalTask const& task, std::string const& path) : m_task(task) {
    auto& comm = task.comm;
    on_all_ranks(comm, [&] { open(path); });
    require_same_checkpoint(comm, path, &m_state);
    for (auto const& text : m_texts) require_same_files(comm, "data.valid", text.tokens);
  }

  Resumption const& start() const { return *m_start; }

  EvalRow row() {
    begin();
    EvalRow row{m_place, m_state.step, {}};
    for (std::size_t i = 0; i < m_texts.size(); ++i)
      row.texts.push_back(loss_of(m_texts[i], m_task.config.data.valid[i]));
    m_session.reset();  // frees its memory for the next
    return row;
  }

 private:
  void begin() {
    auto& [arguments, config, comm, compute] = m_task;
    if (!compute) {
      compute.emplace(config, run_cores(comm), nullptr, device_backend(config), comm);
      log_info("computes on {}", compute->where());
    }
    auto graph = agreed_graph(config, *compute, m_state, comm);
    on_all_ranks(comm, [&] {
      m_session.emplace(config, std::vector{std::move(graph)}, *m_start, m_batches, **compute,
                        comm);
    });
  }

  void open(std::string const& path) {
    auto const& config = m_task.config;
    m_start = open_start(path, base_places(config, m_task.arguments.base));
    m_place = m_start->checkpoint.string();
    if (m_task.comm.rank() == 0) {
      if (m_start->reader) warn_of_foreign_files(*m_start->reader);
      say_other_base(*m_start);
    }
    m_state = m_start->state;
    constexpr bool may_add_adapters = true;
    require_same_model(m_place, m_state, config,
                       config.model.vocab != 0 ? config.model.vocab : m_state.vocab,
                       may_add_adapters);
    m_recipe = recipe_of(config, objective_of(config), m_state.vocab, m_state.tokenizer);
    m_texts = open_valid_texts(config, m_state.vocab, m_recipe);
    for (auto const& text : m_texts) {
      auto const& valid = text.tokens.files().front();
      require_same_tokenizer("data.valid: " + valid.path().string(), tokenizer_of(valid.layout()),
                             m_place, {m_state.tokenizer, m_state.tokenizer_checksum});
    }
  }

  // `name` is the element of data.valid.
  TextLoss loss_of(SampledText const& text, std::string const& name) {
    auto const windows = std::min(text.windows.count(),
                                  clamped_product(m_task.arguments.batches.value_or(kMostBatches),
                                                  m_task.config.batch.sequences));
    say_sequences(text, name, windows);
    TextLoss loss;
    loss.learned = sums_of(text, windows, m_recipe);
    on_all_ranks(m_task.comm, [&] {
      loss.tokens = text.windows.used_tokens(text.tokens, 0, windows);
      require_targets(loss, name);
    });
    if (!text.tokens.has_mask()) return loss;
    auto seen = m_recipe;
    seen.learns_seen = true;
    loss.seen = sums_of(text, windows, seen);
    return loss;
  }

  LossSums sums_of(SampledText const& text, std::int64_t windows, Recipe const& recipe) {
    auto& comm = m_task.comm;
    auto const micro = m_task.compute->choices().micro;
    BatchShape const shape{micro * comm.size(), micro, comm.rank(), comm.size()};
    EvalBatches batches(text, recipe, shape, windows);
    m_batches.take(batches);
    return evaluated(m_session->engine(), div_ceil(windows, shape.sequences), comm);
  }

  void say_sequences(SampledText const& text, std::string const& name, std::int64_t windows) {
    auto& comm = m_task.comm;
    auto const at_once = m_task.compute->choices().micro * comm.size();
    on_all_ranks(comm, [&] {
      if (comm.rank() != 0) return;
      bool const names = m_texts.size() > 1;
      say(fmt::format("eval: {}{} sequences in {} batches", names ? name + ": " : "", windows,
                      div_ceil(windows, at_once)));
      if (windows < text.windows.count()) return;
      auto const unused =
          describe_unused(text, m_recipe, names ? "data.valid: " + name : "data.valid");
      if (!unused.empty()) log_info("{}", unused);
    });
  }

  EvalTask const& m_task;
  std::optional<Resumption> m_start;
  std::string m_place;  // the checkpoint's directory
  RunState m_state;
  Recipe m_recipe;
  std::vector<SampledText> m_texts;
  TextBatches m_batches;
  std::optional<InferenceSession> m_session;
};

bool is_finite(EvalRow const& row) {
  return std::ranges::all_of(row.texts, [](TextLoss const& text) {
    return std::isfinite(text.learned.loss) && (!text.seen || std::isfinite(text.seen->loss));
  });
}

// Adapters that the input names have their base by --base, too.
void require_use_of_base(Config const& config, std::string const& base,
                         std::deque<EvalModel> const& models) {
  if (is_adapter_directory(config.model.import_from)) return;
  std::vector<Resumption const*> starts;
  for (auto const& model : models) starts.push_back(&model.start());
  require_use_of_base(base, starts);
}

}  // namespace

Status run_eval(EvalArguments const& arguments, Comm& comm) {
  Config config;
  on_all_ranks(comm, [&] {
    config = load_config(arguments.input, arguments.overrides, where_it_computes,
                         import_model_beside(arguments.base));
    config.batch.share.clear();  // the shares are those of a training run's ranks
  });
  comm.set_patience(config.run.peer_timeout_s);
  require_same_config(comm, config);
  std::optional<ComputeHere> compute;
  EvalTask const task{arguments, config, comm, compute};
  std::deque<EvalModel> models;  // all are open before one is evaluated, which takes long
  for (auto const& path : arguments.checkpoints) models.emplace_back(task, path);
  on_all_ranks(comm, [&] { require_use_of_base(config, arguments.base, models); });
  std::vector<EvalRow> rows;
  auto status = Status::done;
  for (auto& model : models) {
    rows.push_back(model.row());
    if (is_finite(rows.back())) continue;
    status = Status::non_finite;
    if (comm.rank() == 0)
      log_error("{}: the loss is not finite: weights are not, or become too large on the way",
                rows.back().checkpoint);
  }
  on_all_ranks(comm, [&] {
    if (comm.rank() == 0)
      print_result(arguments.json ? eval_json(config.data.valid, rows)
                                  : eval_text(config.data.valid, rows));
  });
  return status;
}

}  // namespace spillway
