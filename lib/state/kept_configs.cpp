#include "state/kept_configs.hpp"

#include <fmt/core.h>

#include <system_error>
#include <vector>

#include "base/number.hpp"
#include "io/file/file.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

fs::path config_path(fs::path const& run_dir, std::int64_t step) {
  return run_dir / fmt::format("config-{}.yaml", step);
}

// Returns the steps from `first` on whose configurations are there.
std::vector<std::int64_t> steps_of_configs(fs::path const& run_dir, std::int64_t first) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (auto at = fs::directory_iterator(run_dir, error); at != fs::directory_iterator();
       at.increment(error)) {
    auto const step = step_of_config(at->path().filename().string());
    if (step && *step >= first) steps.push_back(*step);
  }
  return steps;
}

}  // namespace

std::optional<std::int64_t> step_of_config(std::string_view name) {
  return number_between("config-", name, ".yaml");
}

void keep_configs(fs::path const& run_dir, std::int64_t step,
                  std::optional<ChangedConfig> const& changed) {
  std::error_code error;
  for (auto const later : steps_of_configs(run_dir, step))
    fs::remove(config_path(run_dir, later), error);
  if (!changed) return;
  auto const first = config_path(run_dir, 0);
  if (!fs::exists(first, error)) replace_text(first, changed->before);
  replace_text(config_path(run_dir, step), changed->now);
}

void set_aside_configs(fs::path const& run_dir, std::optional<fs::path> const& earlier) {
  std::error_code error;
  for (auto const step : steps_of_configs(run_dir, 0)) {
    auto const path = config_path(run_dir, step);
    if (earlier) {
      fs::rename(path, *earlier / path.filename(), error);
    } else {
      fs::remove(path, error);
    }
  }
}

}  // namespace spillway
