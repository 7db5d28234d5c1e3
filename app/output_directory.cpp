#include "app/output_directory.hpp"

#include <algorithm>
#include <system_error>

#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/safetensors/reader.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// Whether all entries are regular files, but for a folder of that name.
bool holds_files(fs::path const& directory, fs::path const& folder) {
  return std::ranges::all_of(fs::directory_iterator(directory), [&](auto const& entry) {
    auto const kind = entry.symlink_status().type();
    return kind == fs::file_type::regular ||
           (kind == fs::file_type::directory && entry.path().filename() == folder);
  });
}

}  // namespace

bool is_checkpoint_alone(fs::path const& directory) {
  return fs::is_regular_file(directory / manifest_name) && holds_files(directory, kCarriedFolder);
}

bool is_model_alone(fs::path const& directory) {
  return is_safetensors(directory) && holds_files(directory, "");
}

NewDirectory::MayReplace replaceable(bool force, bool (*is_alone)(fs::path const&)) {
  return force ? NewDirectory::MayReplace(is_alone) : nullptr;
}

}  // namespace spillway
