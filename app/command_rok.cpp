#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>

#include "app/commands.hpp"
#include "app/device_backend.hpp"
#include "app/devices.hpp"
#include "app/output_kinds.hpp"
#include "base/count.hpp"
#include "base/input_file.hpp"
#include "base/log.hpp"
#include "base/standard_streams.hpp"
#include "base/work_progress.hpp"
#include "comm/on_all_ranks.hpp"
#include "config/load.hpp"
#include "huggingface/import_model.hpp"
#include "io/file/output.hpp"
#include "io/gnuplot/gnuplot.hpp"
#include "plan/data/words.hpp"
#include "profile/hardware.hpp"
#include "rok/rok.hpp"
#include "rok/rok_report.hpp"
#include "run/find_target.hpp"
#include "run/run_memory.hpp"
#include "samples/data.hpp"

namespace spillway {
namespace {

using Path = std::filesystem::path;

constexpr std::int64_t kMostCpuInfoBytes = 1 << 26;

// A RokStart holds the inputs of `rok` and where its outputs go.
struct RokStart {
  Config config;
  std::optional<Data> data;
  std::int64_t vocab = 0;
  Path csv, svg;
  std::optional<Output> table, chart;  // `chart` is unset if the table goes to a device or a pipe
};

RokStart begin(RokArguments const& arguments) {
  RokStart start{load_config(arguments.input, arguments.overrides, where_it_computes, import_model),
                 {},
                 0,
                 arguments.output,
                 {},
                 {},
                 {}};
  auto& config = start.config;
  auto const inputs = files_read(arguments.input, config);
  if (!config.plan.file.empty()) config.plan = load_plan(config.plan.file);
  start.svg =
      arguments.svg.empty() ? Path(start.csv).replace_extension(".svg") : Path(arguments.svg);
  if (start.csv.extension() == ".svg") start.csv.replace_extension(".csv");
  if (start.csv == start.svg)
    throw Error(Status::bad_input,
                arguments.svg + ": is for the table; name another for the chart");
  // Outputs that cannot be written are refused before anything is measured.
  start.table.emplace(start.csv, OutputRule{kCurveOutput, inputs, arguments.force});
  if (!start.table->is_written_through())
    start.chart.emplace(start.svg, OutputRule{kChartOutput, inputs, arguments.force});
  require_spill_directory(config.memory);
  config.data.valid.clear();
  config.batch.share.clear();  // the shares are those of a training run's ranks
  if (!config.data.train.empty()) start.data = open_data(config);
  start.vocab = start.data ? start.data->vocab : config.model.vocab;
  if (start.vocab == 0)
    throw Error(Status::bad_input, "model.vocab: give it, or data.train to take it from");
  return start;
}

// Returns what the chart says of the model, the machine and the day.
RokCaption caption_of(RokStart const& start, ComputeHere const& here, std::int64_t steps) {
  auto const& model = start.config.model;
  auto const cpu = cpu_name(read_input("/proc/cpuinfo", kMostCpuInfoBytes));
  auto const where = here->device.has_own_memory() ? here->device.properties().name : cpu;
  return {fmt::format("{}, {} of {}, {}", word(model.family), count(model.layers, "layer"),
                      model.hidden, word(start.config.precision)),
          fmt::format("{}, {}", where, count(here.choices().threads, "thread")),
          fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))), steps - 1};
}

void write_chart(RokStart const& start, std::span<RokRow const> rows, RokCaption const& caption) {
  auto const script = rok_script(rows, caption);
  if (script.empty()) return;
  auto const drawing = draw(script);
  if (!drawing.trouble.empty())
    return say(fmt::format("{}: not written: {}", start.svg.string(), drawing.trouble));
  write_output(*start.chart, drawing.picture);
  say_wrote(*start.chart);
}

}  // namespace

Status run_rok(RokArguments const& arguments, Comm& comm) {
  on_all_ranks(comm, [&] {
    if (comm.size() > 1)
      throw Error(Status::bad_input, "rok measures one process: start it without mpirun");
  });
  auto const start = begin(arguments);
  ComputeHere const here(start.config, run_cores(comm), nullptr, device_backend(start.config),
                         comm);
  log_info("computes on {}", here.where());
  auto const micros = arguments.micros.empty()
                          ? rok_micros(here.choices().micro, start.config.batch.sequences)
                          : arguments.micros;
  auto const budgets = common_budgets(start.config, here, comm);
  WorkProgress progress({"rok", "points", most_points(micros, budgets)});
  progress.at(0);
  std::vector<RokRow> so_far;  // written to the table after each row, as users may stop early
  auto const tell = [&](RokRow const& row, std::int64_t left) {
    progress.clear();
    say(rok_line(row));
    so_far.push_back(row);
    progress.expect(std::ssize(so_far) + left);
    progress.at(std::ssize(so_far));
    if (!start.table->is_written_through()) write_output(*start.table, rok_csv(so_far));
  };
  auto const rows = measure_rok({start.config, start.data ? &*start.data : nullptr, start.vocab,
                                 budgets, arguments.steps, here, comm},
                                micros, tell);
  progress.clear();
  write_output(*start.table, rok_csv(rows));
  tell_written(*start.table, rok_table(rows));
  say_wrote(*start.table);
  if (start.chart) write_chart(start, rows, caption_of(start, here, arguments.steps));
  if (std::ranges::none_of(rows, &RokRow::fits))
    throw Error(Status::cannot_fit, no_point_fits(rows, start.config.plan));
  return Status::done;
}

}  // namespace spillway
