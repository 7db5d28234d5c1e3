#include "app/train_head.hpp"

#include <fmt/core.h>

#include <ctime>

#include "app/plan_once.hpp"
#include "app/rows_text.hpp"
#include "base/math.hpp"
#include "plan/explain/brief.hpp"
#include "plan/explain/explain.hpp"
#include "plan/explain/verdict.hpp"
#include "report/head.hpp"
#include "samples/batch_shape.hpp"
#include "train/evaluate.hpp"
#include "train/pace.hpp"
#include "train/save_time.hpp"

namespace spillway {
namespace {

BatchShape shape_of(PlannedFor const& made) {
  return batch_shape(made.config.batch, made.planned.train.arithmetic.micro, 0,
                     made.planned.programs.train.ranks);
}

// Where nobody has opened the data, an evaluation is taken to have as many batches as it may.
std::int64_t batches_of_evaluation(PlannedFor const& made, Data const* data) {
  if (data != nullptr) return eval_batches(made.config, *data, shape_of(made));
  if (made.config.data.valid.empty()) return 0;
  auto const shape = shape_of(made);
  return div_ceil(made.config.run.eval_batches * made.config.batch.sequences,
                  shape.micro * shape.ranks);
}

TimeLeft predicted_time(PlannedFor const& made, Data const* data, std::int64_t done,
                        double step_s) {
  auto const batches = batches_of_evaluation(made, data);
  return time_left(made.config.run, done,
                   predicted_turns(made.planned, made.leaves_base, step_s, batches, made.machine));
}

// Returns what a run over so many sequences reads of each source of a mix.
std::vector<MixedText> mix_of(Data const& data, double sequences) {
  std::vector<MixedText> mix;
  double block = 0;
  for (auto const& source : data.mix) block += static_cast<double>(source.share);
  for (auto const& source : data.mix) {
    auto const share = static_cast<double>(source.share) / block;
    auto const windows = static_cast<double>(data.train.windows.count_of(mix.size()));
    mix.push_back({source.name, share, share * sequences / windows});
  }
  return mix;
}

// Returns what the head says of model, data and steps, of which `done` are done.
RunHead head_of_steps(PlannedFor const& made, Data const* data, std::int64_t done, double step_s) {
  auto const& config = made.config;
  RunHead head;
  head.family = word(config.model.family);
  head.precision = word(config.precision);
  if (config.model.quantize != Quantization::none)
    head.precision += fmt::format(", frozen matrices in {}", word(config.model.quantize));
  head.parameters = made.planned.train.parameter_count();
  head.trainable_parameters = made.planned.train.trained_parameter_count();
  head.steps = config.run.steps;
  head.steps_done = done;
  head.step_tokens = tokens_of_step(config);
  head.step_s = step_s;
  head.left = predicted_time(made, data, done, step_s);
  if (data == nullptr) return head;
  head.train_tokens = data->train.windows.used_tokens();
  head.valid_tokens = data->valid ? data->valid->windows.used_tokens() : 0;
  auto const sequences = static_cast<double>(config.batch.sequences);
  head.step_tokens = sequences * static_cast<double>(data->recipe.window);
  auto const all_sequences = static_cast<double>(head.steps) * sequences;
  head.mix = mix_of(*data, all_sequences);
  if (head.mix.empty())
    head.epochs = all_sequences / static_cast<double>(data->train.windows.count());
  return head;
}

}  // namespace

PlanTexts plan_texts(PlannedFor const& made) {
  auto const& [config, planned, simulation, machine, limits, leaves_base] = made;
  auto const& program = longest_step(planned);
  auto const shape = shape_of(made);
  auto const bound = bound_of(planned, config, machine, limits, simulation.step_s);
  auto const path = shares(program, critical_path(program, simulation));
  PlanTexts texts;
  texts.whole = explain(planned.train, planned.plan, program, simulation, path, machine, limits,
                        {shape.filled_of_most(), !shape.fewer().empty()}, bound) +
                rows_text(shape) +
                describe(estimate_save(planned.train, leaves_base, machine, program.ranks));
  texts.brief =
      brief(planned.train, planned.plan, program, simulation, path, machine, limits, bound) +
      rows_text(shape);
  texts.binds = what_binds(path, simulation.step_s);
  texts.step_s = simulation.step_s;
  return texts;
}

std::string head_of(ThisJob const& job, Data const& data, PlannedFor const& made,
                    PlanTexts const& texts) {
  auto head = head_of_steps(made, &data, job.steps_done, texts.step_s);
  head.run = made.config.run.dir;
  head.hosts = job.hosts;
  head.where = job.where;
  head.now = std::time(nullptr);
  head.limit_s = job.limit_s;
  head.binds = texts.binds;
  return head_text(head);
}

std::string planned_rows_of(PlannedFor const& made, Data const* data) {
  return planned_rows(head_of_steps(made, data, 0, made.simulation.step_s));
}

}  // namespace spillway
