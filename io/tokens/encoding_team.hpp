// An EncodingTeam makes tokens by several threads; only for this folder's sources.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "io/tokens/job_tokens.hpp"
#include "io/tokens/text_jobs.hpp"

namespace spillway {

struct EncodedJob {
  TextJob job;
  JobTokens made;
};

// The team has an Encoder for each thread. Which thread takes a job changes no token.
class EncodingTeam {
 public:
  EncodingTeam(Tokenizer const& tokenizer, RecordRules const& rules, std::size_t threads);

  // Throws what tokens_of throws for the first of the jobs that fails.
  void encode(std::vector<EncodedJob>& jobs);

 private:
  Tokenizer const& m_tokenizer;
  RecordRules const& m_rules;
  std::vector<std::unique_ptr<Encoder>> m_encoders;
};

}  // namespace spillway
