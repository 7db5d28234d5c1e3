// config-<step>.yaml in the directory of a run whose jobs gave different keys: what was used from
// that step on. config-0.yaml is what the run began with. There is none where nothing has changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

// The step of such a name; nothing of any other.
std::optional<std::int64_t> step_of_config(std::string_view name);

struct ChangedConfig {
  std::string before, now;  // texts: of the checkpoint, and as it is used now
};

// Of a run that goes on from `step`: those of this step and later ones are gone, since what they
// tell of will be done anew; and where keys have changed, the texts are kept. Throws
// Error(storage).
void keep_configs(std::filesystem::path const& run_dir, std::int64_t step,
                  std::optional<ChangedConfig> const& changed);

// When another run takes the place of one: moves all into the directory where its checkpoints are
// now, or removes them where it had none. What cannot be moved stays.
void set_aside_configs(std::filesystem::path const& run_dir,
                       std::optional<std::filesystem::path> const& earlier);

}  // namespace spillway
