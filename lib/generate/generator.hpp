// Runs a checkpoint's model on a prompt, whatever its family is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generate/decoding.hpp"
#include "generate/session.hpp"

namespace spillway {

// What a step to generate brings.
class GenerateBatch final : public BatchSource {
 public:
  // Throws std::logic_error if the step has other rows than its graph.
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

  std::vector<std::int32_t> inputs;      // of T5's encoder; else there are none
  std::span<std::int32_t const> tokens;  // a row each
  std::int64_t position = 0;             // of the first row in the cache
  std::int64_t selected = 0;             // the row whose logits are asked for
};

class Generator {
 public:
  // Memory is reserved for the prompt and `more` tokens after it. Throws Error.
  Generator(Config const& config, std::int64_t vocab, std::vector<std::int32_t> prompt,
            std::int64_t more, CheckpointReader& checkpoint, Compute const& compute, Comm& comm);

  // The logits of the token that follows these, valid until the next call. `tokens` are the prompt
  // or, of T5, what the decoder starts with; then what was asked for before with more at the end. A
  // token takes one row's work: keys and values of those before it are kept. Throws
  // Error(non_finite) for logits that are infinite or no numbers.
  std::span<float const> logits_after(std::span<std::int32_t const> tokens);
  // The logits of a row of the prompt, of models that fill places; valid until the next call.
  std::span<float const> logits_at(std::int64_t row);

 private:
  Arithmetic m_arithmetic;
  std::vector<Decoding> m_decodings;
  std::vector<std::int32_t> m_prompt;
  GenerateBatch m_batch;
  InferenceSession m_session;
  DecodeOrder m_order;
  std::int64_t m_steps = 0;

  std::span<float const> run(std::size_t graph);
};

}  // namespace spillway
