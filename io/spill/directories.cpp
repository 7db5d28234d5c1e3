#include "io/spill/directories.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/spill/spill_storage.hpp"
#include "io/spill/stripes.hpp"

namespace spillway {
namespace {

// Tells a directory from all others, and its file system. Both are 0 if it cannot be examined.
std::pair<dev_t, ino_t> identity(std::string const& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

}  // namespace

std::string Directories::words() const {
  return fmt::format("{}", fmt::join(all, ", "));
}

void require_spill_place(Directories const& directories) {
  std::map<std::pair<dev_t, ino_t>, std::string> seen;
  for (auto const& directory : directories.all) {
    open_spill_file(directory);
    auto const [first, is_new] = seen.try_emplace(identity(directory), directory);
    if (!is_new)
      throw Error(Status::bad_input,
                  fmt::format("memory.nvme.path: {} and {} are one directory; name one on each "
                              "drive",
                              first->second, directory));
  }
}

std::int64_t spill_room_bytes(Directories const& directories) {
  std::map<dev_t, std::int64_t> sharers;
  for (auto const& directory : directories.all) ++sharers[identity(directory).first];
  std::vector<std::int64_t> rooms;
  for (auto const& directory : directories.all)
    rooms.push_back(free_bytes(directory) / sharers[identity(directory).first]);
  return Stripes(rooms.size()).most_end(std::ranges::min(rooms));
}

}  // namespace spillway
