#include "io/h5/checkpoint_dir.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <functional>
#include <system_error>
#include <vector>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_reader.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "step-", unfinished = ".partial";

std::string step_name(std::int64_t step) {
  return fmt::format("{}{}", prefix, step);
}

// n of "step-<n>"; empty for every other name.
std::optional<std::int64_t> step_of(std::string_view name) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  std::int64_t step = 0;
  auto const [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size() || step < 0) return {};
  return step;
}

bool is_unfinished(std::string_view name) {
  if (!name.ends_with(unfinished)) return false;
  name.remove_suffix(unfinished.size());
  return step_of(name).has_value();
}

std::optional<std::string> read_latest(fs::path const& run_directory) {
  auto const path = run_directory / "latest";
  if (!fs::exists(path)) return {};
  std::ifstream file(path);
  std::string name;
  std::getline(file, name);
  if (!file) throw Error(Status::damaged, path.string() + ": cannot be read or is empty");
  return name;
}

void remove_unfinished(fs::path const& run_directory) {
  std::vector<fs::path> strays;
  for (auto const& entry : fs::directory_iterator(run_directory)) {
    if (is_unfinished(entry.path().filename().string())) strays.push_back(entry.path());
  }
  for (auto const& stray : strays) fs::remove_all(stray);
}

// `to` may exist when a run has gone back to an earlier step. Then the two change places in one
// move, so that the name never leads nowhere; what is left under `from` is removed.
void put_in_place(fs::path const& from, fs::path const& to) {
  if (!fs::exists(to)) return fs::rename(from, to);
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL && errno != ENOSYS) {
      throw fs::filesystem_error("exchange", from, to, {errno, std::generic_category()});
    }
    fs::remove_all(to);  // a file system that cannot exchange, such as NFS
    return fs::rename(from, to);
  }
  fs::remove_all(from);
}

void prune(fs::path const& run_directory, std::int64_t keep, std::int64_t newest) {
  std::vector<std::int64_t> steps;
  for (auto const& entry : fs::directory_iterator(run_directory)) {
    auto const step = step_of(entry.path().filename().string());
    if (step && *step != newest) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end(), std::greater<>());
  for (auto i = static_cast<std::size_t>(keep - 1); i < steps.size(); ++i) {
    fs::remove_all(run_directory / step_name(steps[i]));
  }
}

// What std::filesystem throws, as the one exception type.
template <class F>
auto as_storage_error(F action) {
  try {
    return action();
  } catch (fs::filesystem_error const& error) {
    throw Error(Status::storage,
                fmt::format("{}: {}", error.path1().string(), error.code().message()));
  }
}

}  // namespace

fs::path begin_checkpoint(fs::path const& run_directory, std::int64_t step) {
  return as_storage_error([&] {
    fs::create_directories(run_directory);
    remove_unfinished(run_directory);
    auto directory = run_directory / (step_name(step) + std::string(unfinished));
    fs::create_directory(directory);
    return directory;
  });
}

void abandon_checkpoint(fs::path const& run_directory) noexcept {
  try {
    remove_unfinished(run_directory);
  } catch (fs::filesystem_error const&) {  // the next begin_checkpoint says why
  }
}

void commit_checkpoint(fs::path const& run_directory, std::int64_t step, std::int64_t keep) {
  assert(keep >= 1);
  as_storage_error([&] {
    auto const name = step_name(step);
    auto const written = run_directory / (name + std::string(unfinished));
    sync_path(written);
    put_in_place(written, run_directory / name);
    sync_path(run_directory);
    replace_text(run_directory / "latest", name + "\n");
    prune(run_directory, keep, step);
  });
}

std::optional<fs::path> find_latest(fs::path const& run_directory) {
  auto const name = read_latest(run_directory);
  if (!name) return {};
  auto const pointer = (run_directory / "latest").string();
  if (!step_of(*name)) {
    throw Error(Status::damaged, fmt::format("{}: names no checkpoint: '{}'", pointer, *name));
  }
  auto const directory = run_directory / *name;
  try {
    CheckpointReader const complete(directory);
  } catch (Error const& error) {
    auto const status = fs::exists(directory / manifest_name) ? error.status() : Status::damaged;
    throw Error(status,
                fmt::format("{} (to go on from an older checkpoint, write its name into {})",
                            error.what(), pointer));
  }
  return directory;
}

std::int64_t count_checkpoints(fs::path const& run_directory) {
  return as_storage_error([&] {
    return std::count_if(fs::directory_iterator(run_directory), fs::directory_iterator(),
                         [](auto const& entry) {
                           return step_of(entry.path().filename().string()).has_value();
                         });
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
