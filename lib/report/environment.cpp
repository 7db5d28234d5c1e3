#include "report/environment.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "comm/gathered.hpp"
#include "comm/mpi_scope.hpp"
#include "kernels/host/scope.hpp"
#include "version.hpp"

namespace spillway {
namespace {

std::string devices(Compute const& compute) {
  if (!compute.device.has_own_memory()) return device_text();
  auto const properties = compute.device.properties();
  return fmt::format("{} ({})", properties.name, properties.target);
}

}  // namespace

std::vector<std::string> host_names(Comm& comm) {
  std::array<char, 64> mine{};
  gethostname(mine.data(), mine.size() - 1);
  std::vector<std::string> names;
  for (auto const& name : gathered(comm, mine)) names.emplace_back(name.data());
  return names;
}

std::string environment_json(std::span<std::string const> hosts, Arithmetic const& arithmetic,
                             Compute const& compute) {
  nlohmann::ordered_json json = {{"version", build::version},   {"git", build::git_hash},
                                 {"compiler", build::compiler}, {"flags", build::flags},
                                 {"features", build::features}, {"mpi", mpi_version()},
                                 {"ranks", hosts.size()},       {"threads", arithmetic.threads},
                                 {"isa", arithmetic.isa},       {"devices", devices(compute)}};
  for (auto const& name : hosts) json["hosts"].push_back(name);
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string job_name() {
  auto const* const name = std::getenv("SPILLWAY_JOB");
  return name == nullptr ? "" : name;
}

}  // namespace spillway
