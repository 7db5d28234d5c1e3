#include "io/h5/carried_files.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/file/output_file.hpp"
#include "io/file/read_file.hpp"
#include "io/h5/checkpoint_names.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

void require_small_file(fs::directory_entry const& entry) {
  bool const small = entry.symlink_status().type() == fs::file_type::regular &&
                     entry.file_size() <= std::uintmax_t{kMostCarriedBytes};
  if (small) return;
  throw Error(Status::damaged, fmt::format("{}: is no file of at most {} bytes, as checkpoints "
                                           "carry them",
                                           entry.path().string(), kMostCarriedBytes));
}

bool carries(fs::path const& folder) {
  return fs::is_directory(fs::symlink_status(folder)) &&
         fs::exists(fs::symlink_status(folder / kTypesFile));
}

std::vector<fs::path> files_in(fs::path const& folder) {
  std::vector<fs::path> files;
  for (auto const& entry : fs::directory_iterator(folder)) {
    require_small_file(entry);
    files.push_back(entry.path());
  }
  if (files.size() > kMostCarriedFiles) {
    throw Error(Status::damaged,
                fmt::format("{}: has more than the {} files that checkpoints carry",
                            folder.string(), kMostCarriedFiles));
  }
  std::ranges::sort(files);
  return files;
}

// The file that makes the folder ours goes last, so that who is killed before can go on.
void remove_carried(fs::path const& directory) {
  auto const folder = directory / kCarriedFolder;
  if (!fs::exists(fs::symlink_status(folder))) return;
  if (!fs::is_empty(folder) && !carries(folder)) {
    throw Error(Status::bad_input,
                fmt::format("{}: is no folder of a run: move it away, or choose another run.dir",
                            folder.string()));
  }
  for (auto const& file : carried_files(directory))
    if (file.filename() != kTypesFile) fs::remove(file);
  fs::remove(folder / kTypesFile);
  fs::remove(folder);
}

}  // namespace

std::vector<fs::path> carried_files(fs::path const& directory) {
  return as_storage_error([&] {
    auto const folder = directory / kCarriedFolder;
    return carries(folder) ? files_in(folder) : std::vector<fs::path>();
  });
}

void carry_files(fs::path const& from, fs::path const& to) {
  auto files = from.empty() ? std::vector<fs::path>() : carried_files(from);
  std::stable_partition(files.begin(), files.end(),
                        [](auto const& file) { return file.filename() == kTypesFile; });
  as_storage_error([&] {
    bool const leaves_alone = files.empty() && carried_files(to).empty();
    if (!leaves_alone) remove_carried(to);
  });
  for (auto const& file : files)
    write_carried(to, file.filename().string(), read_text(file, kMostCarriedBytes));
}

void write_carried(fs::path const& directory, std::string const& name, std::string const& text) {
  auto const folder = directory / kCarriedFolder;
  make_directories(folder);
  write_file(folder / name, text);
  sync_path(folder);
}

}  // namespace spillway
