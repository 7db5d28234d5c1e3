#include "job/scheduler.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>

#include "base/log.hpp"
#include "base/units.hpp"
#include "comm/gathered.hpp"
#include "job/scheduler_answers.hpp"

namespace spillway {
namespace {

constexpr int kPatienceS = 10;
// The process has so long to end, and its job script to requeue the job, before the job ends.
constexpr double kHandOverS = 30;

std::string variable(char const* name) {
  auto const* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns whether the text can stand between quotes in a shell command.
bool is_job_id(std::string const& id) {
  return std::ranges::all_of(id, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._-[]").find(c) != std::string_view::npos;
  });
}

// Returns the output, or nothing if the command fails or takes too long. The child inherits that
// signals which ask to stop are blocked here, so only SIGKILL is sure to end it.
std::optional<std::string> output_of(std::string const& command, int patience_s) {
  auto const limited = fmt::format("timeout -s KILL {} {} 2>/dev/null", patience_s, command);
  auto* pipe = ::popen(limited.c_str(), "re");
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  std::array<char, 4096> buffer{};
  while (auto const size = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), size);
  return ::pclose(pipe) == 0 ? std::optional(output) : std::nullopt;
}

// Slurm sets SLURM_JOB_END_TIME only in versions after 22.05. A time in the past belongs to another
// job.
JobEnd ask_slurm(std::string const& id, double now_s, int patience_s) {
  auto const known = parse_slurm_end(variable("SLURM_JOB_END_TIME"));
  if (known && *known > now_s) return {known, "Slurm"};
  auto const output = output_of(
      fmt::format("env SLURM_TIME_FORMAT=%s squeue -h -j '{}' -O EndTime", id), patience_s);
  if (!output) return {{}, "squeue does not tell when this job ends", true};
  auto const end = parse_slurm_end(*output);
  return {end, end ? "squeue" : "squeue names no end of this job"};
}

// If qstat does not work, the limit in Torque's variable is counted from now on, which gives an end
// that is too late by the time that has passed.
JobEnd ask_pbs(std::string const& id, double now_s, int patience_s) {
  auto const output = output_of(fmt::format("qstat -f '{}'", id), patience_s);
  if (output) {
    auto const end = parse_pbs_end(*output, now_s);
    return {end, end ? "qstat" : "qstat names no walltime of this job"};
  }
  auto const limit_s = parse_clock(variable("PBS_WALLTIME"));
  if (limit_s) return {now_s + *limit_s, "PBS_WALLTIME"};
  return {{}, "qstat does not tell when this job ends", true};
}

void say_end(JobEnd const& end, double left_s) {
  if (end.at_s) {
    log_info("run.max_time: auto: {} says that this job ends in {}; the run ends {:.0f} s earlier",
             end.said, human_duration(std::max(0.0, left_s)), kHandOverS);
  } else if (end.failed) {
    log_warning("run.max_time: auto: {}; this run has no limit: give run.max_time", end.said);
  } else {
    log_info("run.max_time: auto: {}: none", end.said);
  }
}

// Returns the job's id. For a task of a job array it is made of both variables, because
// SLURM_ARRAY_JOB_ID alone names the whole array.
std::string slurm_job() {
  auto const array = variable("SLURM_ARRAY_JOB_ID"), task = variable("SLURM_ARRAY_TASK_ID");
  return array.empty() || task.empty() ? variable("SLURM_JOB_ID") : array + "_" + task;
}

double ask_and_say() {
  auto const now_s = [] { return static_cast<double>(std::time(nullptr)); };
  auto const end = ask_scheduler(now_s(), kPatienceS);
  auto const left_s = end.at_s.value_or(std::numeric_limits<double>::infinity()) - now_s();
  say_end(end, left_s);
  return left_s;
}

}  // namespace

JobEnd ask_scheduler(double now_s, int patience_s) {
  auto const slurm = slurm_job(), pbs = variable("PBS_JOBID");
  if (!slurm.empty() && is_job_id(slurm)) return ask_slurm(slurm, now_s, patience_s);
  if (!pbs.empty() && is_job_id(pbs)) return ask_pbs(pbs, now_s, patience_s);
  return {{}, "this is no job of Slurm or PBS"};
}

std::optional<double> time_limit_s(RunConfig const& run, SteadyClock::time_point begin,
                                   Comm& comm) {
  bool const asks = run.max_time_s == 0.0;
  if (!asks) return run.max_time_s;
  auto const left_s = gathered(comm, comm.rank() == 0 ? ask_and_say() : 0.0).front();
  if (left_s == std::numeric_limits<double>::infinity()) return std::nullopt;
  return seconds_since(begin) + left_s - kHandOverS;
}

}  // namespace spillway
