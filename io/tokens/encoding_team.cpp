#include "io/tokens/encoding_team.hpp"

#include <atomic>
#include <thread>

namespace spillway {

EncodingTeam::EncodingTeam(Tokenizer const& tokenizer, RecordRules const& rules,
                           std::size_t threads)
    : m_tokenizer(tokenizer), m_rules(rules) {
  for (std::size_t i = 0; i < threads; ++i) m_encoders.push_back(tokenizer.encoder());
}

void EncodingTeam::encode(std::vector<EncodedJob>& jobs) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(jobs.size());
  auto const work = [&](std::size_t thread) noexcept {
    for (auto i = next++; i < jobs.size(); i = next++) {
      try {
        jobs[i].made = tokens_of(jobs[i].job, m_rules, m_tokenizer.facts(), *m_encoders[thread]);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < m_encoders.size(); ++i) others.emplace_back(work, i);
    work(0);
  }
  for (auto const& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace spillway
