#include "io/h5/checkpoint_dir.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_names.hpp"
#include "io/h5/earlier_checkpoints.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

void bring_back_replaced(fs::path const& run_directory) {
  for (auto const step : steps_in(run_directory, kReplaced)) {
    auto const place = step_path(run_directory, step);
    if (!fs::exists(place)) fs::rename(step_path(run_directory, step, kReplaced), place);
  }
}

// Lists what nobody will read any more: unfinished checkpoints, and those that were moved aside for
// a new checkpoint of their step that is in place.
std::vector<fs::path> strays(fs::path const& run_directory) {
  std::vector<fs::path> result;
  for (auto const step : steps_in(run_directory, kUnfinished)) {
    result.push_back(step_path(run_directory, step, kUnfinished));
  }
  for (auto const step : steps_in(run_directory, kReplaced)) {
    if (!fs::exists(step_path(run_directory, step))) continue;
    result.push_back(step_path(run_directory, step, kReplaced));
  }
  return result;
}

// Lists all checkpoints up to step `newest`, except for the newest `keep` of them.
std::vector<fs::path> surplus(fs::path const& run_directory, std::int64_t keep,
                              std::int64_t newest) {
  auto steps = steps_in(run_directory);
  std::erase_if(steps, [&](auto step) { return step > newest; });
  std::ranges::sort(steps, std::greater<>());
  std::vector<fs::path> result;
  for (auto i = static_cast<std::size_t>(keep); i < steps.size(); ++i) {
    result.push_back(step_path(run_directory, steps[i]));
  }
  return result;
}

// Gives a checkpoint the name of an unfinished one before it is removed, so that it does not pass
// for complete if the process dies while it removes files. Returns the new name.
fs::path marked_for_removal(fs::path const& directory, std::error_code& error) {
  if (!step_in(directory.filename().string())) return directory;
  auto marked = directory;
  marked += kUnfinished;
  fs::remove_all(marked, error);
  if (!error) fs::rename(directory, marked, error);
  return marked;
}

// Removes the directories that can be removed. Returns a text that names the first one that cannot,
// or nothing.
std::optional<std::string> remove_each(std::vector<fs::path> const& directories) {
  std::optional<std::string> complaint;
  for (auto const& directory : directories) {
    std::error_code error;
    auto const marked = marked_for_removal(directory, error);
    if (!error) fs::remove_all(marked, error);
    if (!error || complaint) continue;
    complaint = fmt::format("{}: cannot be removed: {}", marked.string(), error.message());
  }
  return complaint;
}

std::optional<std::string> tidy(fs::path const& run_directory, std::int64_t keep,
                                std::int64_t newest) {
  try {
    auto directories = strays(run_directory);
    std::ranges::copy(surplus(run_directory, keep, newest), std::back_inserter(directories));
    return remove_each(directories);
  } catch (fs::filesystem_error const& error) {
    return text_of(error);
  }
}

// Lets two directories exchange their names in one step. Returns false if the file system, such as
// NFS, cannot do that.
bool exchange(fs::path const& a, fs::path const& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  int const error = errno;
  auto const unable = {EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP};
  if (std::ranges::find(unable, error) != unable.end()) return false;
  throw fs::filesystem_error("exchange", a, b, {error, std::generic_category()});
}

// A checkpoint of this step may already exist if the run was resumed from an earlier step. It is
// not removed before the new one is in place, because `latest` may name it.
void put_in_place(fs::path const& run_directory, std::int64_t step) {
  auto const written = step_path(run_directory, step, kUnfinished);
  auto const place = step_path(run_directory, step);
  if (fs::exists(place)) {
    if (exchange(written, place)) return;
    fs::rename(place, step_path(run_directory, step, kReplaced));
  }
  fs::rename(written, place);
}

// Returns whether `path` is a directory but no checkpoint, and so may be a run directory.
bool may_be_run_directory(fs::path const& path) {
  std::error_code ignored;
  return !fs::exists(path / manifest_name, ignored) && fs::is_directory(path, ignored);
}

}  // namespace

fs::path begin_checkpoint(fs::path const& run_directory, std::int64_t step) {
  return as_storage_error([&] {
    fs::create_directories(run_directory);
    bring_back_replaced(run_directory);
    abandon_checkpoint(run_directory);
    auto directory = step_path(run_directory, step, kUnfinished);
    fs::remove_all(directory);  // throws if abandon_checkpoint could not remove it
    fs::create_directory(directory);
    return directory;
  });
}

void abandon_checkpoint(fs::path const& run_directory) noexcept try {
  remove_each(strays(run_directory));
} catch (fs::filesystem_error const&) {  // the next commit_checkpoint reports what it cannot remove
} catch (std::bad_alloc const&) {        // the next commit_checkpoint removes what is left
}

std::optional<std::string> commit_checkpoint(fs::path const& run_directory, std::int64_t step,
                                             std::int64_t keep) {
  if (keep < 1) throw std::logic_error("checkpoints: the one just written must be kept");
  auto const latest = run_directory / kLatest;
  as_storage_error([&] {
    prepare_text(latest, fmt::format("{}{}\n", kStepPrefix, step));
    sync_path(step_path(run_directory, step, kUnfinished));
    put_in_place(run_directory, step);
    sync_path(run_directory);
    publish_text(latest);
  });
  return tidy(run_directory, keep, step);
}

std::optional<CheckpointReader> open_latest(fs::path const& run_directory) {
  auto const name = read_latest(run_directory);
  if (!name) return {};
  auto const step = step_in(*name);
  if (!step) {
    constexpr auto any = std::numeric_limits<std::int64_t>::max();
    throw Error(Status::damaged,
                fmt::format("{}: names no checkpoint: '{}'{}", (run_directory / kLatest).string(),
                            *name, text_about_older(run_directory, any)));
  }
  auto const directory = standing_place(run_directory, *step);
  try {
    return CheckpointReader(directory);
  } catch (Error const& error) {
    std::error_code unknown;
    bool const missing = !fs::exists(directory / manifest_name, unknown) && !unknown;
    throw Error(missing ? Status::damaged : error.status(),
                error.what() + text_about_older(run_directory, *step));
  }
}

std::optional<fs::path> find_latest(fs::path const& run_directory) {
  auto const latest = open_latest(run_directory);
  if (!latest) return {};
  return latest->directory();
}

fs::path checkpoint_at(fs::path const& path) {
  return may_be_run_directory(path) ? find_latest(path).value_or(path) : path;
}

CheckpointReader open_checkpoint(fs::path const& path) {
  if (may_be_run_directory(path))
    if (auto latest = open_latest(path)) return std::move(*latest);
  return naming_older(path, [&] { return CheckpointReader(path); });
}

std::int64_t count_checkpoints(fs::path const& run_directory, std::int64_t step) {
  return as_storage_error([&] {
    return std::ranges::count_if(steps_in(run_directory),
                                 [&](auto there) { return there <= step; });
  });
}

void require_space(fs::path const& directory, std::int64_t needed_bytes, Status status) {
  auto const free = free_bytes(directory);
  if (free < needed_bytes) {
    throw Error(status,
                fmt::format("{}: checkpoints need {} bytes more, {} are free; free some space, "
                            "choose another run.dir or keep fewer (run.checkpoint.keep)",
                            directory.string(), needed_bytes, free));
  }
}

}  // namespace spillway
