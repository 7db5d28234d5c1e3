#include "run/profile_key.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <string>

#include "kernels/host/product.hpp"
#include "profile/drives.hpp"
#include "profile/hardware.hpp"
#include "version.hpp"

namespace spillway {
namespace {

std::string program(Compute const& compute) {
  std::vector<std::string> files = {"/proc/self/exe"};
  if (compute.device.has_own_memory())
    files.push_back(file_of_code(reinterpret_cast<void const*>(compute.kernels.device.exec)));
  return fmt::format("{} {}, {}, {}, {}{}", build::version, build::git_hash, build::compiler,
                     build::flags, build::features, when_written(build::git_hash, files));
}

// Names the library that multiplies on the device, or returns "" if none does.
std::string products_of(Compute const& compute) {
  Arithmetic arithmetic;
  arithmetic.isa = compute.kernels.target;
  return compute.product_choices({{}, {}, arithmetic}, {}).made_by;
}

void describe_device(About& key, Compute const& compute) {
  auto const properties = compute.device.properties();
  key.emplace_back("device", properties.name);
  key.emplace_back("software", properties.software);
  if (auto const library = products_of(compute); !library.empty())
    key.emplace_back("products", library);
}

}  // namespace

std::string when_written(std::string_view git_hash, std::vector<std::string> const& files) {
  std::string text;
  if (git_hash != "unknown" && !git_hash.ends_with("-dirty")) return text;
  for (auto const& path : files) {
    struct stat file {};
    if (::stat(path.c_str(), &file) == 0)
      text += fmt::format(", built {}.{:09}", file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  }
  return text;
}

std::string file_of_code(void const* address) {
  Dl_info found{};
  return ::dladdr(address, &found) != 0 ? found.dli_fname : "";
}

About profile_key(Config const& config, Choices const& choices, std::int64_t cores,
                  std::int64_t local_ranks, Compute const& compute) {
  About key = {{"program", program(compute)}};
  for (auto& entry : hardware()) key.push_back(std::move(entry));
  key.emplace_back("isa", kernels_isa(config, compute.kernels.target));
  key.emplace_back("cores", std::to_string(cores));
  key.emplace_back("threads", std::to_string(choices.threads));
  key.emplace_back("node_ranks", std::to_string(local_ranks));
  if (compute.device.has_own_memory()) describe_device(key, compute);
  return key;
}

About network_key(About const& profile_key, std::string const& network) {
  auto key = profile_key;
  key.emplace_back("network", network);
  return key;
}

About drive_key(About const& profile_key, Config const& config) {
  auto key = profile_key;
  key.emplace_back("drive", drives_of(config.memory.nvme_paths_here()));
  key.emplace_back("checksums", config.spill.checksum ? "true" : "false");
  return key;
}

}  // namespace spillway
