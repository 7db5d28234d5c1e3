#include "report/environment.hpp"

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

using HostName = std::array<char, 64>;

std::vector<HostName> host_names(Comm& comm) {
  HostName mine{};
  gethostname(mine.data(), mine.size() - 1);
  return gathered(comm, mine);
}

}  // namespace

std::string environment_json(Comm& comm, Arithmetic const& arithmetic) {
  nlohmann::ordered_json json = {{"version", build::version},   {"git", build::git_hash},
                                 {"compiler", build::compiler}, {"flags", build::flags},
                                 {"features", build::features}, {"mpi", mpi_version()},
                                 {"ranks", comm.size()},        {"threads", arithmetic.threads},
                                 {"isa", arithmetic.isa},       {"devices", device_text()}};
  for (auto const& name : host_names(comm)) json["hosts"].push_back(name.data());
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string job_name() {
  auto const* const name = std::getenv("SPILLWAY_JOB");
  return name == nullptr ? "" : name;
}

}  // namespace spillway
