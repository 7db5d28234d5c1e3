#include "tests/support/cuda/complaints.hpp"

#include <algorithm>
#include <mutex>

namespace spillway::test::cuda {
namespace {

// Complaints beyond this number are dropped: one fault may lead to one for every later piece.
constexpr std::size_t kMost = 200;

thread_local constinit char const* t_doing = "";

std::mutex g_mutex;
std::vector<std::string>& all() {
  static auto& texts = *new std::vector<std::string>;
  return texts;
}

}  // namespace

void complain(std::string const& text) {
  auto const full = *t_doing == '\0' ? text : text + " (while: " + t_doing + ")";
  std::scoped_lock const lock(g_mutex);
  if (all().size() < kMost && std::ranges::count(all(), full) == 0) all().push_back(full);
}

std::vector<std::string> complaints() {
  std::scoped_lock const lock(g_mutex);
  return all();
}

void forget_complaints() {
  std::scoped_lock const lock(g_mutex);
  all().clear();
}

void doing(char const* text) {
  t_doing = text == nullptr ? "" : text;
}

char const* doing() {
  return t_doing;
}

}  // namespace spillway::test::cuda
