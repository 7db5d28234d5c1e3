#include "profile/drives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "io/ring/probe.hpp"
#include "profile/hardware.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLayers = 8;  // of partitions and volumes on top of each other

// Returns the only drive on which a volume lies, or "" if it lies on several or is no volume.
fs::path only_slave(fs::path const& volume) {
  std::error_code error;
  std::vector<fs::path> slaves;
  for (auto const& entry : fs::directory_iterator(volume / "slaves", error))
    slaves.push_back(entry.path());
  return slaves.size() == 1 ? fs::canonical(slaves.front(), error) : fs::path();
}

// Returns a text that is equal for directories on one drive.
std::string drive_of_directory(std::string const& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) return directory;
  auto const number = fmt::format("{}:{}", major(info.st_dev), minor(info.st_dev));
  auto const drive = drive_behind("/sys/dev/block/" + number);
  return drive.empty() ? number : drive.string();
}

using DirectoriesByDrive = std::map<std::string, std::vector<std::string>>;

DirectoriesByDrive by_drive(Directories const& directories) {
  DirectoriesByDrive drives;
  for (auto const& directory : directories.all)
    drives[drive_of_directory(directory)].push_back(directory);
  return drives;
}

}  // namespace

std::string drives_of(Directories const& directories) {
  std::vector<std::string> drives;
  std::ranges::transform(directories.all, std::back_inserter(drives), drive_of);
  return fmt::format("{}", fmt::join(drives, ", "));
}

fs::path drive_behind(fs::path const& block_device) {
  std::error_code error;
  auto drive = fs::canonical(block_device, error);
  for (int layer = 0; !error && layer < kMostLayers; ++layer) {
    auto const below =
        fs::exists(drive / "partition", error) ? drive.parent_path() : only_slave(drive);
    if (below.empty()) break;
    drive = below;
  }
  return drive;
}

std::int64_t count_drives(Directories const& directories) {
  return std::ssize(by_drive(directories));
}

std::vector<std::string> shared_drives_advice(Directories const& directories) {
  std::vector<std::string> advice;
  for (auto const& [drive, shared] : by_drive(directories))
    if (shared.size() > 1)
      advice.push_back(fmt::format(
          "{} are on one drive, which striping makes no faster; name directories on others",
          fmt::join(shared, " and ")));
  return advice;
}

std::vector<std::string> drives_advice(Directories const& directories) {
  auto advice = shared_drives_advice(directories);
  for (auto const& directory : directories.all)
    if (auto line = place_advice(directory, file_system_of(directory)); !line.empty())
      advice.push_back(std::move(line));
  return advice;
}

}  // namespace spillway
