#include "train/scheduler.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>

#include "base/log.hpp"
#include "base/units.hpp"
#include "comm/gathered.hpp"

namespace spillway {
namespace {

constexpr int kPatienceS = 10;
constexpr double kHandOverS = 30;  // for the end of the process and its script's call to requeue

std::string variable(char const* name) {
  auto const* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string_view trimmed(std::string_view text) {
  auto const* const blanks = " \t\r\n";
  auto const first = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

std::optional<double> parse_count(std::string_view text) {
  std::int64_t count = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0) return std::nullopt;
  return static_cast<double>(count);
}

// "[[[D:]H:]M:]S"
std::optional<double> parse_clock(std::string_view text) {
  std::array<double, 3> constexpr to_next = {24, 60, 60};
  auto const colons = static_cast<std::size_t>(std::ranges::count(text, ':'));
  if (colons > to_next.size()) return std::nullopt;
  double seconds = 0;
  for (auto unit = to_next.size() - colons;; ++unit) {
    auto const colon = std::min(text.find(':'), text.size());
    auto const part = parse_count(text.substr(0, colon));
    if (!part) return std::nullopt;
    seconds += *part;
    if (colon == text.size()) return seconds;
    seconds *= to_next[unit];
    text.remove_prefix(colon + 1);
  }
}

// "Mon Nov 23 08:33:10 2026", local time
std::optional<double> parse_date(std::string_view text) {
  std::tm date{};
  std::string const copy(text);
  auto const* end = ::strptime(copy.c_str(), "%a %b %d %H:%M:%S %Y", &date);
  if (end == nullptr || *end != '\0') return std::nullopt;
  date.tm_isdst = -1;
  return static_cast<double>(std::mktime(&date));
}

// Of a line "    name = value"; empty where there is none.
std::string_view attribute(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    auto const line = trimmed(text.substr(0, end));
    if (line.starts_with(name) && line.substr(name.size()).starts_with(" = "))
      return line.substr(name.size() + 3);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// What may stand in a shell's command between quotes.
bool is_job_id(std::string const& id) {
  return std::ranges::all_of(id, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._-[]").find(c) != std::string_view::npos;
  });
}

// Empty where it fails or takes too long. Requests to stop are blocked here and so in a child: only
// SIGKILL ends one surely.
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

// Slurm before 23.02 does not set the variable. One in the past is another job's.
JobEnd ask_slurm(std::string const& id, double now_s, int patience_s) {
  auto const known = parse_slurm_end(variable("SLURM_JOB_END_TIME"));
  if (known && *known > now_s) return {known, "Slurm"};
  auto const output = output_of(
      fmt::format("env SLURM_TIME_FORMAT=%s squeue -h -j '{}' -O EndTime", id), patience_s);
  if (!output) return {{}, "squeue does not tell when this job ends", true};
  auto const end = parse_slurm_end(*output);
  return {end, end ? "squeue" : "squeue names no end of this job"};
}

// Where qstat cannot be had, Torque's variable counts from now on: too late by what has passed.
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

double ask_and_say() {
  auto const now_s = [] { return static_cast<double>(std::time(nullptr)); };
  auto const end = ask_scheduler(now_s(), kPatienceS);
  auto const left_s = end.at_s.value_or(std::numeric_limits<double>::infinity()) - now_s();
  say_end(end, left_s);
  return left_s;
}

}  // namespace

std::optional<double> parse_slurm_end(std::string_view text) {
  return parse_count(trimmed(text));
}

std::optional<double> parse_pbs_end(std::string_view text, double now_s) {
  auto const limit_s = parse_clock(attribute(text, "Resource_List.walltime"));
  if (!limit_s) return std::nullopt;
  if (auto const begin = parse_date(attribute(text, "stime"))) return *begin + *limit_s;
  if (auto const left_s = parse_clock(attribute(text, "Walltime.Remaining")))
    return now_s + *left_s;
  auto const used_s = parse_clock(attribute(text, "resources_used.walltime"));
  return now_s + *limit_s - used_s.value_or(0);
}

JobEnd ask_scheduler(double now_s, int patience_s) {
  auto const slurm = variable("SLURM_JOB_ID"), pbs = variable("PBS_JOBID");
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
