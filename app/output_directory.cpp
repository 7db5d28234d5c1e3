#include "app/output_directory.hpp"

#include <string>
#include <string_view>
#include <system_error>

#include "huggingface/adapter_directory.hpp"
#include "huggingface/model_files.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_seal.hpp"
#include "io/safetensors/reader.hpp"
#include "io/safetensors/weight_index.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

using IsOwn = bool (*)(std::string const& name);

// Returns whether all entries, except one called `but_for`, are regular files whose names `is_own`
// accepts. Returns false if the directory cannot be read.
bool holds_only(fs::path const& directory, IsOwn is_own, std::string const& but_for = "") {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    auto const name = entry->path().filename().string();
    std::error_code ignored;
    bool const is_file = entry->symlink_status(ignored).type() == fs::file_type::regular;
    if (name != but_for && !(is_file && is_own(name))) return false;
  }
  return !error;
}

bool has(std::string const& name, std::string_view begin, std::string_view end) {
  return name.starts_with(begin) && name.ends_with(end);
}
bool is_of_checkpoint(std::string const& name) {
  return name == manifest_name || name == seal_name || has(name, "shard-", ".h5");
}
bool is_carried(std::string const& name) {
  return name == kTypesFile || is_model_file(name);
}
bool is_of_model(std::string const& name) {
  return name == kIndexFile || has(name, "model", ".safetensors") || is_model_file(name) ||
         is_adapter_file(name);
}

}  // namespace

bool is_checkpoint_alone(fs::path const& directory) {
  auto const carried = directory / kCarriedFolder;
  std::error_code ignored;
  bool const carries = fs::exists(fs::symlink_status(carried, ignored));
  return fs::is_regular_file(directory / manifest_name, ignored) &&
         holds_only(directory, is_of_checkpoint, kCarriedFolder) &&
         (!carries || (fs::is_directory(fs::symlink_status(carried, ignored)) &&
                       holds_only(carried, is_carried)));
}

bool is_model_alone(fs::path const& directory) {
  bool const has_weights = is_safetensors(directory) || is_adapter_directory(directory);
  return has_weights && holds_only(directory, is_of_model);
}

NewDirectory::MayReplace replaceable(bool force, bool (*is_alone)(fs::path const&)) {
  return force ? NewDirectory::MayReplace(is_alone) : nullptr;
}

}  // namespace spillway
