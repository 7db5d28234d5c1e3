#include "io/h5/earlier_checkpoints.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_names.hpp"
#include "io/h5/checkpoint_reader.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// Returns the steps of finished checkpoints in ascending order, and of those that were moved aside
// for a new checkpoint of their step.
std::vector<std::int64_t> finished_steps(fs::path const& run_directory) {
  return as_storage_error([&] {
    if (!fs::exists(run_directory)) return std::vector<std::int64_t>{};
    auto steps = steps_in(run_directory);
    std::ranges::copy(steps_in(run_directory, kReplaced), std::back_inserter(steps));
    std::ranges::sort(steps);
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
  });
}

// Returns why a checkpoint is not complete, or "" if it is. Throws if it cannot be looked at now or
// has a later format, because the run must then not go on from an older checkpoint.
std::string why_not(fs::path const& checkpoint) {
  try {
    CheckpointReader const complete(checkpoint);
    return "";
  } catch (Error const& error) {
    bool const unfinished =
        as_storage_error([&] { return !fs::exists(checkpoint / manifest_name); });
    if (error.status() != Status::damaged && !unfinished) throw;
    return error.what();
  }
}

bool is_complete(fs::path const& run_directory, std::int64_t step) {
  try {
    CheckpointReader const complete(standing_place(run_directory, step));
    return true;
  } catch (Error const&) {
    return false;
  }
}

std::vector<std::string> adopt_newest(fs::path const& run_directory,
                                      std::vector<std::int64_t> steps) {
  std::vector<std::string> said;
  std::ranges::sort(steps, std::greater<>());
  for (auto const step : steps) {
    auto const trouble = why_not(standing_place(run_directory, step));
    if (!trouble.empty()) {
      said.push_back(trouble);
      continue;
    }
    auto const name = fmt::format("{}{}", kStepPrefix, step);
    replace_text(run_directory / kLatest, name + "\n");
    said.push_back(fmt::format("{}: was missing; {} is the newest checkpoint that is complete",
                               (run_directory / kLatest).string(), name));
    return said;
  }
  throw Error(Status::damaged,
              fmt::format("{}: is missing, and no checkpoint is complete ({}); move them away to "
                          "begin anew",
                          (run_directory / kLatest).string(), said.front()));
}

// Returns the step that a prepared `latest` names, or nothing if the text is missing or cut short.
std::optional<std::int64_t> step_named(fs::path const& prepared) {
  try {
    return step_in(first_line(prepared));
  } catch (Error const&) {
    return {};
  }
}

// Finishes a save that was interrupted when its checkpoint was in place and `latest` did not name
// that checkpoint yet, and returns a line that reports this. The prepared text is removed if its
// checkpoint is not complete, or if `latest` was written later or names no earlier step.
std::optional<std::string> finish_commit(fs::path const& run_directory) {
  auto const latest = run_directory / kLatest, prepared = prepared_path(latest);
  if (!fs::is_regular_file(fs::symlink_status(prepared))) return {};
  auto const step = step_named(prepared);
  bool const is_there = fs::exists(latest);
  bool const follows =
      step && (!is_there || (fs::last_write_time(latest) <= fs::last_write_time(prepared) &&
                             step_in(first_line(latest)) < step));
  if (!follows || !why_not(standing_place(run_directory, *step)).empty()) {
    fs::remove(prepared);
    return {};
  }
  publish_text(latest);
  return fmt::format("{}: a save was interrupted at its end; {}{} is complete", latest.string(),
                     kStepPrefix, *step);
}

fs::path unused_earlier(fs::path const& run_directory) {
  for (int number = 1;; ++number) {
    auto directory = run_directory / fmt::format("{}-{}", kEarlier, number);
    if (!fs::exists(fs::symlink_status(directory))) return directory;
  }
}

void move_if_there(fs::path const& from, fs::path const& to) {
  if (fs::exists(fs::symlink_status(from))) fs::rename(from, to);
}

// Moves checkpoints into a directory, which is called earlier.partial until all are in it, and
// returns its final path. Continues an interrupted move. Takes along what was moved aside for a new
// checkpoint of its step, since the next save would bring it back.
fs::path move_to_earlier(fs::path const& run_directory, std::vector<std::int64_t> const& steps,
                         bool with_latest) {
  return as_storage_error([&] {
    auto const earlier = prepared_path(run_directory / kEarlier);
    auto const kind = fs::symlink_status(earlier).type();
    bool const foreign = kind != fs::file_type::not_found && kind != fs::file_type::directory;
    bool const taken =  // an interrupted move has left checkpoints of these steps
        std::ranges::any_of(steps, [&](auto step) { return fs::exists(step_path(earlier, step)); });
    if (foreign || taken) fs::rename(earlier, unused_earlier(run_directory));
    fs::create_directory(earlier);
    // `latest` goes first, so that mend_latest finds the newest checkpoint that is left after an
    // interruption.
    if (with_latest) move_if_there(run_directory / kLatest, earlier / kLatest);
    for (auto const step : steps) {
      for (auto const suffix : {std::string_view(), kReplaced})
        move_if_there(step_path(run_directory, step, suffix), step_path(earlier, step, suffix));
    }
    sync_path(earlier);
    auto place = unused_earlier(run_directory);
    fs::rename(earlier, place);
    sync_path(run_directory);
    return place;
  });
}

}  // namespace

std::vector<std::string> mend_latest(fs::path const& run_directory) {
  auto const finished = as_storage_error([&] { return finish_commit(run_directory); });
  if (finished) return {*finished};  // `latest` names the newest checkpoint now
  auto steps = finished_steps(run_directory);
  auto const latest = read_latest(run_directory);
  bool const moving = fs::is_directory(fs::symlink_status(prepared_path(run_directory / kEarlier)));
  if (steps.empty()) {
    if (moving) move_to_earlier(run_directory, {}, false);
    return {};
  }
  if (!latest) return adopt_newest(run_directory, std::move(steps));
  auto const named = step_in(*latest);
  std::erase_if(steps, [&](auto step) { return !named || step <= *named; });
  if (steps.empty() && !moving) return {};
  auto const earlier = move_to_earlier(run_directory, steps, false);
  auto moved = steps_in(earlier);
  std::ranges::sort(moved);
  return {fmt::format("{} names {}: the later checkpoints (step {}) are in {} now",
                      (run_directory / kLatest).string(), *latest, fmt::join(moved, ", "),
                      earlier.string())};
}

std::string text_about_older(fs::path const& run_directory, std::int64_t step) try {
  auto steps = finished_steps(run_directory);
  std::ranges::sort(steps, std::greater<>());
  for (auto const older : steps) {
    if (older >= step || !is_complete(run_directory, older)) continue;
    auto const name = fmt::format("{}{}", kStepPrefix, older);
    return fmt::format(" ({} is complete: give that one, or write {} into {} to go on from it)",
                       (run_directory / name).string(), name, (run_directory / kLatest).string());
  }
  return fmt::format(" (and no checkpoint before it is complete in {})", run_directory.string());
} catch (Error const& error) {  // an error here must not hide the damage that the caller reports
  return fmt::format(" (and checkpoints before it cannot be looked at: {})", error.what());
}

std::optional<fs::path> set_aside_checkpoints(fs::path const& run_directory) {
  auto const steps = finished_steps(run_directory);
  if (steps.empty()) return {};
  return move_to_earlier(run_directory, steps, true);
}

}  // namespace spillway
