#include "profile/shared_profile.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "base/log.hpp"
#include "comm/gathered.hpp"

namespace spillway {
namespace {

std::vector<double> numbers(Machine const& machine) {
  std::vector<double> result;
  for (auto const& field : machine_fields()) result.push_back(machine.*field.at);
  for (auto const& [key, value] : machine.op_s) result.push_back(value);
  return result;
}

// Returns the Machine with its numbers replaced by `values`, which are in the order of numbers().
Machine with_numbers(Machine machine, std::span<double const> values) {
  auto value = values.begin();
  for (auto const& field : machine_fields()) machine.*field.at = *value++;
  for (auto& [key, number] : machine.op_s) number = *value++;
  return machine;
}

}  // namespace

bool knows(Machine const& machine, Rates const& rates) {
  return std::ranges::all_of(rates, [&](auto const rate) { return machine.*rate > 0; });
}

std::vector<Machine> gathered_machines(Machine const& mine, Comm& comm) {
  auto const own = numbers(mine);
  std::vector<double> all(own.size() * static_cast<std::size_t>(comm.size()));
  comm.all_gather_bytes(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  std::vector<Machine> machines;
  for (std::size_t at = 0; at < all.size(); at += own.size())
    machines.push_back(with_numbers(mine, std::span(all).subspan(at, own.size())));
  return machines;
}

SharedProfile::SharedProfile(ProfileCache const& cache, About key, Comm& comm)
    : m_cache(cache), m_key(std::move(key)) {
  m_id.file = hash_value(m_cache.file(m_key));
  gethostname(m_id.host.data(), m_id.host.size() - 1);
  m_ids = gathered(comm, m_id);
  m_speaks = std::ranges::find(m_ids, m_id) - m_ids.begin() == comm.rank();
}

Machine SharedProfile::find(Rates const& rates, OpSeconds const& wanted, Comm& comm) const {
  auto const found = m_cache.find(m_key);
  if (m_speaks && !found.trouble.empty()) log_warning("{}; measured anew", found.trouble);
  Machine mine;
  bool const all_know = comm.agree(knows(found.machine, rates) ? 0 : 1) == 0;
  for (auto const rate : rates) mine.*rate = all_know ? found.machine.*rate : 0;
  for (auto const& [key, unknown] : wanted) {
    auto const known = found.machine.op_s.find(key);
    mine.op_s[key] = known == found.machine.op_s.end() ? 0 : known->second;
  }
  return slowest(gathered_machines(mine, comm));
}

void SharedProfile::store(std::vector<Machine> const& all) const {
  if (!m_speaks) return;
  std::vector<Machine> alike;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (m_ids[rank] == m_id) alike.push_back(all[rank]);
  auto const problem = m_cache.store(m_key, slowest(alike));
  if (!problem.empty()) log_info("profile: not kept for the next run: {}", problem);
}

}  // namespace spillway
