#include "io/h5/checkpoint_names.hpp"

#include <algorithm>
#include <system_error>

#include "base/number.hpp"
#include "io/file/path_names.hpp"
#include "io/file/read_file.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kMostLatestBytes = 4096;

namespace fs = std::filesystem;

}  // namespace

fs::path step_path(fs::path const& run_directory, std::int64_t step, std::string_view suffix) {
  return run_directory / fmt::format("{}{}{}", kStepPrefix, step, suffix);
}

std::optional<std::int64_t> step_in(std::string_view name, std::string_view suffix) {
  return number_between(kStepPrefix, name, suffix);
}

std::vector<std::int64_t> steps_in(fs::path const& run_directory, std::string_view suffix) {
  std::vector<std::int64_t> steps;
  for (auto const& entry : fs::directory_iterator(run_directory)) {
    auto const step = step_in(entry.path().filename().string(), suffix);
    if (step) steps.push_back(*step);
  }
  return steps;
}

std::string text_of(fs::filesystem_error const& error) {
  return fmt::format("{}: {}", error.path1().string(), error.code().message());
}

std::string first_line(fs::path const& path) {
  auto text = read_text(path, kMostLatestBytes);
  text.resize(std::min(text.size(), text.find('\n')));
  return text;
}

std::optional<std::string> read_latest(fs::path const& run_directory) {
  auto const path = run_directory / kLatest;
  if (!as_storage_error([&] { return fs::exists(path); })) return {};
  auto text = first_line(path);
  if (text.empty()) throw Error(Status::damaged, path.string() + ": is empty");
  return text;
}

fs::path standing_place(fs::path const& run_directory, std::int64_t step) {
  return as_storage_error([&] {
    auto const place = step_path(run_directory, step);
    auto const aside = step_path(run_directory, step, kReplaced);
    return !fs::exists(place) && fs::exists(aside) ? aside : place;
  });
}

std::optional<std::int64_t> step_of(fs::path const& directory) {
  return step_in(without_slash(directory).filename().string());
}

}  // namespace spillway
