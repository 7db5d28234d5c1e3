#include "tests/support/cuda/executed.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace spillway::test::cuda {
namespace {

struct Counted {
  ptx::Kernel kernel;  // a copy, since its module may end before the process does
  std::vector<std::uint64_t> threads;
};

class Executed {
 public:
  Executed() {
    auto const* const folder = std::getenv("SPILLWAY_PTX_COUNTS");
    if (folder != nullptr)
      m_path = fmt::format("{}/{}-{}.tsv", folder, ::getpid(), std::time(nullptr));
  }
  ~Executed() {
    if (m_kernels.empty()) return;
    std::ofstream file(m_path);
    for (auto const& [name, counted] : m_kernels) {
      auto const& instructions = counted.kernel.instructions;
      for (std::size_t i = 0; i < instructions.size(); ++i)
        file << fmt::format("{}\t{}\t{}\t{}\n", name, instructions[i].line, instructions[i].text,
                            counted.threads[i]);
    }
  }
  Executed(Executed const&) = delete;
  Executed& operator=(Executed const&) = delete;

  void add(ptx::Module const& module) {
    std::scoped_lock const lock(m_mutex);
    if (m_path.empty()) return;
    for (auto const& [name, kernel] : module.kernels)
      m_kernels.try_emplace(name, kernel, std::vector<std::uint64_t>(kernel.instructions.size()));
  }
  void add(ptx::Code const& code, ptx::LaunchCounts const& counts) {
    std::scoped_lock const lock(m_mutex);
    auto const found = m_kernels.find(code.kernel->name);
    if (found == m_kernels.end()) return;
    auto& threads = found->second.threads;
    for (std::size_t i = 0; i < threads.size(); ++i) threads[i] += counts.by_instruction[i];
  }

 private:
  std::string m_path;  // is empty if nobody asks
  std::mutex m_mutex;
  std::map<std::string, Counted> m_kernels;
};

Executed& executed() {
  static Executed result;
  return result;
}

}  // namespace

void begin_counting(ptx::Module const& module) {
  executed().add(module);
}

void count_executed(ptx::Code const& code, ptx::LaunchCounts const& counts) {
  executed().add(code, counts);
}

}  // namespace spillway::test::cuda
