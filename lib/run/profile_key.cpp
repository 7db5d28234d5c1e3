#include "run/profile_key.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include <string>

#include "kernels/host/product.hpp"
#include "profile/hardware.hpp"
#include "version.hpp"

namespace spillway {
namespace {

// Committed sources and a build identify a program by their hash. Otherwise the time at which the
// executable was written tells builds apart.
std::string program() {
  auto text = fmt::format("{} {}, {}, {}, {}", build::version, build::git_hash, build::compiler,
                          build::flags, build::features);
  bool const committed = build::git_hash != "unknown" && !build::git_hash.ends_with("-dirty");
  struct stat file {};
  if (!committed && ::stat("/proc/self/exe", &file) == 0)
    text += fmt::format(", built {}.{:09}", file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  return text;
}

}  // namespace

About profile_key(Config const& config, Choices const& choices, std::int64_t cores,
                  std::int64_t local_ranks, Compute const& compute) {
  About key = {{"program", program()}};
  for (auto& entry : hardware()) key.push_back(std::move(entry));
  key.emplace_back("isa", kernels_isa(config, compute.kernels.target));
  key.emplace_back("cores", std::to_string(cores));
  key.emplace_back("threads", std::to_string(choices.threads));
  key.emplace_back("node_ranks", std::to_string(local_ranks));
  if (compute.device.has_own_memory()) key.emplace_back("device", compute.device.properties().name);
  return key;
}

About network_key(About const& profile_key, std::string const& network) {
  auto key = profile_key;
  key.emplace_back("network", network);
  return key;
}

About drive_key(About const& profile_key, Config const& config) {
  auto key = profile_key;
  key.emplace_back("drive", drive_of(config.memory.nvme_path_here()));
  key.emplace_back("checksums", config.spill.checksum ? "true" : "false");
  return key;
}

}  // namespace spillway
