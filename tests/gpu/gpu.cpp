#include "tests/gpu/gpu.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "tests/support/run_program.hpp"

namespace spillway::test {
namespace {

// A machine file for the GPUs that are here, which is removed at the end of the process.
class GpuMachine {
 public:
  GpuMachine() : m_directory(scratch_directory(fmt::format("gpu_machine_{}", ::getpid()))) {
    std::ofstream(path()) << "cores: {all: 2, compute: 1}\n"
                             "links: {h2d_gbps: 10, d2h_gbps: 10}\n"
                             "matmul_gflops: {bf16: 50, fp32: 50}\n"
                             "memory: {device: 1GiB, host: 4GiB}\n"
                             "memory_gbps: 10\n"
                             "nvme: {write_gbps: 1, read_gbps: 1, both_gbps: 1}\n"
                          << "target: " << seen_gpus().target << '\n';
  }
  ~GpuMachine() { std::filesystem::remove_all(m_directory); }

  std::string path() const { return m_directory / "machine.yaml"; }

 private:
  std::filesystem::path const m_directory;
};

}  // namespace

SeenGpus read_gpus(std::string const& doctor_text) {
  static std::regex const device(R"(^  cuda:\d+ +(.*), (sm_\d+), .* free$)");
  static std::regex const none(R"(^  no GPU +(.*)$)");
  SeenGpus seen;
  seen.why_none = "spillway doctor names no GPU that can be used";
  // A long line goes on in the next one.
  std::istringstream text(std::regex_replace(doctor_text, std::regex("\n {20}"), " "));
  std::smatch parts;
  for (std::string line; std::getline(text, line);) {
    if (std::regex_match(line, parts, none)) seen.why_none = parts[1];
    if (!std::regex_match(line, parts, device)) continue;
    if (seen.count++ > 0) continue;
    seen.name = parts[1];
    seen.target = parts[2];
    seen.why_none.clear();
  }
  return seen;
}

SeenGpus const& seen_gpus() {
  static auto const seen = read_gpus(run_command(spillway_command(0) + " doctor .").output);
  return seen;
}

std::string why_no_gpu() {
  auto const& why = seen_gpus().why_none;
  return why.empty() ? "" : "no device: " + why;
}

Keys on_gpu(int ranks) {
  static GpuMachine const machine;
  auto const* const device = seen_gpus().count < ranks ? "cuda:0" : "cuda";
  return {fmt::format("run.device={}", device), "debug.machine=" + machine.path(),
          "memory.device=256MiB", "memory.host=256MiB"};
}

Keys on_cores() {
  return {"run.device=cpu", "debug.machine=" + machine_file_of_cores()};
}

}  // namespace spillway::test
