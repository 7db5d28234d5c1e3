// A Generator runs a model with its weights on a prompt, whatever the model's family is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generate/decoding.hpp"
#include "generate/session.hpp"

namespace spillway {

// A GenerateBatch holds the input of one step. An Engine loads the input from it.
class GenerateBatch final : public BatchSource {
 public:
  // Throws std::logic_error if the number of tokens is not that of the graph's rows.
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

  std::vector<std::int32_t> inputs;      // tokens of the encoder; empty if there is none
  std::span<std::int32_t const> tokens;  // the tokens to read, one for each row
  std::int64_t position = 0;             // the row of the cache for the first of `tokens`
  std::int64_t selected = 0;             // the row whose logits are asked for
};

class Generator {
 public:
  // Loads the model's weights, and reserves memory for the prompt and `more` tokens after it.
  // Throws Error, for example if the model has too few positions or the memory is too small.
  Generator(Config const& config, std::int64_t vocab, std::vector<std::int32_t> prompt,
            std::int64_t more, Resumption const& start, Compute const& compute, Comm& comm);

  // Lets the next call of logits_after begin with another prompt, not longer than the first one. It
  // is for models without an encoder.
  void begin_anew() { m_order = DecodeOrder(m_decodings.front()); }

  // Returns the logits of the token that follows `tokens`, which are valid until the next call.
  // `tokens` are the prompt or, with an encoder, the tokens with which the decoder starts; in every
  // further call they are those of the call before, and more at the end. The cache keeps keys and
  // values, so a further token costs the work of one row. Throws Error(non_finite) if a logit is
  // infinite or NaN.
  std::span<float const> logits_after(std::span<std::int32_t const> tokens);
  // Returns the logits of a row of the prompt, for models that predict masked tokens. They are
  // valid until the next call. Throws Error(non_finite) if a logit is infinite or NaN.
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
