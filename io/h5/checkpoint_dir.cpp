#include "io/h5/checkpoint_dir.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdio.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_reader.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "step-";
constexpr std::string_view unfinished = ".partial";  // being written, or removed
constexpr std::string_view replaced = ".replaced";   // moved aside for another of the same step

fs::path step_path(fs::path const& run_directory, std::int64_t step, std::string_view suffix = "") {
  return run_directory / fmt::format("{}{}{}", prefix, step, suffix);
}

// n of "step-<n><suffix>"; empty for every other name.
std::optional<std::int64_t> step_of(std::string_view name, std::string_view suffix = "") {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return {};
  name.remove_prefix(prefix.size());
  if (name.size() < suffix.size()) return {};
  name.remove_suffix(suffix.size());
  std::int64_t step = 0;
  auto const [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size() || step < 0) return {};
  return step;
}

std::vector<std::int64_t> steps_in(fs::path const& run_directory, std::string_view suffix = "") {
  std::vector<std::int64_t> steps;
  for (auto const& entry : fs::directory_iterator(run_directory)) {
    auto const step = step_of(entry.path().filename().string(), suffix);
    if (step) steps.push_back(*step);
  }
  return steps;
}

std::string text_of(fs::filesystem_error const& error) {
  return fmt::format("{}: {}", error.path1().string(), error.code().message());
}

// What std::filesystem throws, as the one exception type.
template <class F>
auto as_storage_error(F action) {
  try {
    return action();
  } catch (fs::filesystem_error const& error) {
    throw Error(Status::storage, text_of(error));
  }
}

// The first line of `latest`; empty: there is no such file.
std::optional<std::string> read_latest(fs::path const& run_directory) {
  auto const path = run_directory / "latest";
  if (!as_storage_error([&] { return fs::exists(path); })) return {};
  auto const file = open_for_reading(path);
  std::string text(256, '\0');
  auto const got = read_fully(file.get(), std::as_writable_bytes(std::span(text)), 0);
  if (got.error != 0) {
    throw Error(Status::storage,
                fmt::format("{}: cannot be read: {}", path.string(), error_text(got.error)));
  }
  text.resize(static_cast<std::size_t>(got.done_bytes));
  text.resize(std::min(text.size(), text.find('\n')));
  if (text.empty()) throw Error(Status::damaged, path.string() + ": is empty");
  return text;
}

// Where a finished checkpoint lies: a job that died while it put another in its place may have left
// it moved aside.
fs::path standing_place(fs::path const& run_directory, std::int64_t step) {
  return as_storage_error([&] {
    auto const place = step_path(run_directory, step);
    auto const aside = step_path(run_directory, step, replaced);
    return !fs::exists(place) && fs::exists(aside) ? aside : place;
  });
}

void bring_back_replaced(fs::path const& run_directory) {
  for (auto const step : steps_in(run_directory, replaced)) {
    auto const place = step_path(run_directory, step);
    if (!fs::exists(place)) fs::rename(step_path(run_directory, step, replaced), place);
  }
}

// What nobody will read any more: unfinished ones, and those whose place has been taken.
std::vector<fs::path> strays(fs::path const& run_directory) {
  std::vector<fs::path> result;
  for (auto const step : steps_in(run_directory, unfinished)) {
    result.push_back(step_path(run_directory, step, unfinished));
  }
  for (auto const step : steps_in(run_directory, replaced)) {
    if (!fs::exists(step_path(run_directory, step))) continue;
    result.push_back(step_path(run_directory, step, replaced));
  }
  return result;
}

// All but `keep` checkpoints. Those of steps beyond the newest, from which the run has gone back,
// are the first to go.
std::vector<fs::path> surplus(fs::path const& run_directory, std::int64_t keep,
                              std::int64_t newest) {
  auto steps = steps_in(run_directory);
  std::ranges::sort(steps, std::greater<>(),
                    [&](auto step) { return std::pair(step <= newest, step); });
  std::vector<fs::path> result;
  for (auto i = static_cast<std::size_t>(keep); i < steps.size(); ++i) {
    result.push_back(step_path(run_directory, steps[i]));
  }
  return result;
}

// One that is half removed must not pass for a checkpoint, whoever dies meanwhile.
fs::path marked_for_removal(fs::path const& directory, std::error_code& error) {
  if (!step_of(directory.filename().string())) return directory;
  auto marked = directory;
  marked += unfinished;
  fs::remove_all(marked, error);
  if (!error) fs::rename(directory, marked, error);
  return marked;
}

// Removes what can be removed; the text names the first that cannot.
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

// Lets two directories change places in one move. False: this file system cannot, such as NFS.
bool exchange(fs::path const& a, fs::path const& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  int const error = errno;
  auto const unable = {EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP};
  if (std::ranges::find(unable, error) != unable.end()) return false;
  throw fs::filesystem_error("exchange", a, b, {error, std::generic_category()});
}

// The step's place may be taken when a run has gone back. What stood there is not removed before
// the new one is in place: `latest` may name it.
void put_in_place(fs::path const& run_directory, std::int64_t step) {
  auto const written = step_path(run_directory, step, unfinished);
  auto const place = step_path(run_directory, step);
  if (fs::exists(place)) {
    if (exchange(written, place)) return;
    fs::rename(place, step_path(run_directory, step, replaced));
  }
  fs::rename(written, place);
}

}  // namespace

fs::path begin_checkpoint(fs::path const& run_directory, std::int64_t step) {
  return as_storage_error([&] {
    fs::create_directories(run_directory);
    bring_back_replaced(run_directory);
    abandon_checkpoint(run_directory);
    auto directory = step_path(run_directory, step, unfinished);
    fs::remove_all(directory);  // says why, if it is still there
    fs::create_directory(directory);
    return directory;
  });
}

void abandon_checkpoint(fs::path const& run_directory) noexcept {
  try {
    remove_each(strays(run_directory));
  } catch (fs::filesystem_error const&) {  // the next commit_checkpoint says why
  }
}

std::optional<std::string> commit_checkpoint(fs::path const& run_directory, std::int64_t step,
                                             std::int64_t keep) {
  assert(keep >= 1);
  as_storage_error([&] {
    sync_path(step_path(run_directory, step, unfinished));
    put_in_place(run_directory, step);
    sync_path(run_directory);
    replace_text(run_directory / "latest", fmt::format("{}{}\n", prefix, step));
  });
  return tidy(run_directory, keep, step);
}

std::optional<fs::path> find_latest(fs::path const& run_directory) {
  auto const name = read_latest(run_directory);
  if (!name) return {};
  auto const pointer = (run_directory / "latest").string();
  auto const step = step_of(*name);
  if (!step) {
    throw Error(Status::damaged, fmt::format("{}: names no checkpoint: '{}'", pointer, *name));
  }
  auto const directory = standing_place(run_directory, *step);
  try {
    CheckpointReader const complete(directory);
  } catch (Error const& error) {
    std::error_code unknown;
    bool const missing = !fs::exists(directory / manifest_name, unknown) && !unknown;
    throw Error(missing ? Status::damaged : error.status(),
                fmt::format("{} (to go on from an older checkpoint, write its name into {})",
                            error.what(), pointer));
  }
  return directory;
}

std::int64_t count_checkpoints(fs::path const& run_directory) {
  return as_storage_error([&] { return std::ssize(steps_in(run_directory)); });
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
