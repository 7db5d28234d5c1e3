#include "tests/support/cuda/program/judge.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/settings.hpp"

namespace spillway::test::cuda {
namespace {

std::int64_t number_in(char const* variable, std::int64_t otherwise) {
  auto const* const text = std::getenv(variable);
  return text != nullptr ? std::stoll(text) : otherwise;
}

// Returns the numbers in a text such as "75,90".
std::vector<int> numbers_in(char const* variable) {
  auto const* const text = std::getenv(variable);
  std::istringstream words(text != nullptr ? text : "");
  std::vector<int> result;
  for (std::string word; std::getline(words, word, ',');) result.push_back(std::stoi(word));
  return result;
}

bool is_first_rank() {
  for (auto const* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (number_in(variable, 0) != 0) return false;
  }
  return true;
}

// Returns whether there is a fault.
bool plan_fault_in_environment() {
  static std::map<std::string, PlannedFault::Kind> const kinds = {
      {"failed", PlannedFault::Kind::failed},
      {"sticky", PlannedFault::Kind::sticky},
      {"out_of_memory", PlannedFault::Kind::out_of_memory},
      {"lost_device", PlannedFault::Kind::lost_device},
      {"stuck", PlannedFault::Kind::stuck},
      {"faulty", PlannedFault::Kind::faulty}};
  auto const* const variable = std::getenv("SPILLWAY_STAND_IN_FAULT");
  if (variable == nullptr || *variable == '\0' || !is_first_rank()) return false;
  std::string const text = variable;
  auto const first = text.find(':'), second = text.find(':', first + 1);
  plan_fault({.call = text.substr(0, first),
              .n = std::stoll(text.substr(first + 1)),
              .kind = kinds.at(text.substr(second + 1))});
  return true;
}

class Judge {
 public:
  explicit Judge(AfterFault after_fault) {
    reset({.seed = static_cast<std::uint64_t>(number_in("SPILLWAY_STAND_IN_SEED", 1)),
           .memory_bytes = number_in("SPILLWAY_STAND_IN_MEMORY", std::int64_t{1} << 30),
           .taken_bytes = number_in("SPILLWAY_STAND_IN_TAKEN", 0),
           .devices = static_cast<int>(number_in("SPILLWAY_STAND_IN_DEVICES", 1)),
           .architectures = numbers_in("SPILLWAY_STAND_IN_ARCHITECTURES")});
    m_may_leave = plan_fault_in_environment() && after_fault == AfterFault::may_leave;
  }
  ~Judge() {
    auto const* const path = std::getenv("SPILLWAY_STAND_IN_CALLS");
    if (path != nullptr && is_first_rank()) {
      std::ofstream file(path);
      for (auto const& [name, count] : calls()) file << name << ' ' << count << '\n';
      file << "turns_of_warps " << turns_of_warps() << '\n';
    }
    auto wrong = complaints();
    auto const left = m_may_leave ? std::vector<std::string>{} : leftovers();
    for (auto const& what : left) wrong.push_back("not given back: " + what);
    for (auto const& what : wrong) fmt::print(stderr, "stand-in: {}\n", what);
    if (!wrong.empty()) ::_exit(99);
  }

 private:
  bool m_may_leave = false;
};

}  // namespace

void begin_judged(AfterFault after_fault) {
  static Judge const judge(after_fault);
}

}  // namespace spillway::test::cuda
