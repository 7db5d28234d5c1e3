#include "job/owner.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "base/number.hpp"

namespace spillway {
namespace {

std::string first_line(std::string const& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The PID namespace is included, because another container may use the same number for another
// process.
std::string machine() {
  std::array<char, 64> pids{};
  [[maybe_unused]] auto const got = ::readlink("/proc/self/ns/pid", pids.data(), pids.size() - 1);
  return first_line("/proc/sys/kernel/random/boot_id") + " " + pids.data();
}

std::string host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Returns when the process began, from field 22 of /proc/<pid>/stat. Fields are counted from behind
// the name, which may contain blanks. Returns "" if the process does not exist or is a zombie.
std::string begin_of(std::int64_t pid) {
  auto const stat = first_line(fmt::format("/proc/{}/stat", pid));
  std::istringstream rest(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::vector<std::string> const fields(std::istream_iterator<std::string>(rest), {});
  bool const lives = fields.size() > 19 && fields[0] != "Z" && fields[0] != "X";
  return lives ? fields[19] : "";
}

std::optional<std::string> value_of(std::string_view text, std::string_view key) {
  auto const at = text.find(key);
  if (at == text.npos || (at > 0 && text[at - 1] != '\n')) return {};
  auto const rest = text.substr(at + key.size());
  auto const end = rest.find('\n');
  if (end == rest.npos) return {};
  return std::string(rest.substr(0, end));
}

}  // namespace

Owner this_process() {
  auto const pid = ::getpid();
  return {machine(), host(), pid, begin_of(pid)};
}

std::string to_text(Owner const& owner) {
  return fmt::format("machine: {}\nhost: {}\npid: {}\nbegin: {}\n", owner.machine, owner.host,
                     owner.pid, owner.begin);
}

std::optional<Owner> parse_owner(std::string_view text) {
  auto const machine = value_of(text, "machine: "), host = value_of(text, "host: "),
             pid = value_of(text, "pid: "), begin = value_of(text, "begin: ");
  if (!machine || !host || !pid || !begin) return {};
  auto const number = to_number<decltype(Owner::pid)>(*pid);
  if (!number) return {};
  return Owner{*machine, *host, *number, *begin};
}

std::optional<bool> runs(Owner const& owner) {
  if (owner.machine != machine() || owner.begin.empty()) return {};
  return begin_of(owner.pid) == owner.begin;
}

}  // namespace spillway
