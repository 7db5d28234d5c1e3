#include "profile/hardware.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "base/math.hpp"

namespace spillway {
namespace {

std::string text_of(char const* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Returns the value behind "key :" at the beginning of a line, or "" if no line begins so.
std::string first_value(std::string_view text, std::string_view key) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    auto const colon = line.find(':');
    auto const end = line.find_last_not_of(" \t", colon == line.npos ? colon : colon - 1);
    if (colon == 0 || colon == line.npos || line.substr(0, end + 1) != key) continue;
    auto const value = line.find_first_not_of(' ', colon + 1);
    return value == line.npos ? "" : line.substr(value);
  }
  return "";
}

// Returns the size of main memory as it was sold, by rounding up. The kernel and devices keep a
// part of it, whose size differs between boots.
std::string main_memory() {
  constexpr std::int64_t unit = std::int64_t{1} << 30;
  auto const bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return fmt::format("{}GiB", div_ceil(bytes, unit));
}

}  // namespace

About hardware() {
  utsname system{};
  uname(&system);
  auto const cpu = cpu_name(text_of("/proc/cpuinfo"));
  return {{"cpu", cpu.empty() ? system.machine : cpu},
          {"node_cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
          {"node_memory", main_memory()},
          {"kernel", fmt::format("{} {}", system.sysname, system.release)}};
}

std::string drive_of(std::filesystem::path const& directory) {
  struct stat info {};
  if (directory.empty() || ::stat(directory.c_str(), &info) != 0) return "";
  auto const device = fmt::format("{}:{}", major(info.st_dev), minor(info.st_dev));
  auto const mount = mount_of(text_of("/proc/self/mountinfo"), device);
  return mount.empty() ? device : mount + " " + device;
}

// The keys are those of the first processor, as in "model name : AMD EPYC 9654". The first three
// are from x86, the others from Arm.
std::string cpu_name(std::string_view cpuinfo) {
  std::string name;
  for (auto const* key : {"model name", "cpu family", "model", "CPU implementer", "CPU part"}) {
    auto const value = first_value(cpuinfo, key);
    if (!value.empty()) name += (name.empty() ? "" : " / ") + value;
  }
  return name;
}

// A line of mountinfo is "36 35 259:1 /root /mnt rw,noatime shared:1 - ext4 /dev/nvme0n1p1 rw".
std::string mount_of(std::string_view mountinfo, std::string_view device) {
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, parent, number, word, type, source;
    words >> id >> parent >> number;
    if (number != device) continue;
    while (words >> word && word != "-") {
    }
    if (words >> type >> source) return type + " " + source;
  }
  return "";
}

}  // namespace spillway
