// A Generator runs the model of a checkpoint on a prompt, whatever the model's family is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generate/decoding.hpp"
#include "generate/session.hpp"

namespace spillway {

// A GenerateBatch holds the input of one step, and the engine reads it from here.
class GenerateBatch final : public BatchSource {
 public:
  // Throws std::logic_error if the step's number of rows differs from that of its graph.
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

  std::vector<std::int32_t> inputs;      // tokens of the encoder; empty if there is none
  std::span<std::int32_t const> tokens;  // the tokens to read, one for each row
  // The position in the cache of the first row that is read.
  std::int64_t position = 0;
  std::int64_t selected = 0;  // the row whose logits are asked for
};

class Generator {
 public:
  // Reserves memory for the prompt and `more` tokens after it. Throws Error.
  Generator(Config const& config, std::int64_t vocab, std::vector<std::int32_t> prompt,
            std::int64_t more, CheckpointReader& checkpoint, Compute const& compute, Comm& comm);

  // Returns the logits of the token that follows `tokens`. They are valid until the next call.
  // `tokens` are the prompt or, with an encoder, the tokens with which the decoder starts; every
  // further call has the tokens of the call before and more at the end. The cache keeps keys and
  // values, so a further token costs the work of one row. Throws Error(non_finite) if a logit is
  // infinite or NaN.
  std::span<float const> logits_after(std::span<std::int32_t const> tokens);
  // Returns the logits of a row of the prompt, for models of masked tokens. They are valid until
  // the next call.
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
