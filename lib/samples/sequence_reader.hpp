// A SequenceReader makes sequences from windows of a text.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/tokens/token_set.hpp"
#include "runtime/batch_source.hpp"
#include "samples/recipe.hpp"
#include "samples/sequence_buffer.hpp"
#include "samples/text_windows.hpp"

namespace spillway {

class SequenceReader {
 public:
  // `tokens` and `windows` must outlive this object.
  SequenceReader(TokenSet const& tokens, TextWindows const& windows, Recipe recipe);

  TextWindow window(std::int64_t number) { return m_windows.at(m_tokens, number, m_scratch); }
  // Fills sequence `row` of a batch of `micro` sequences from a window of the text or, without a
  // window, with padding. Neither this function nor window() allocates.
  void read(std::optional<TextWindow> const& window, std::int64_t sample, std::int64_t micro,
            std::int64_t row, BatchBuffers const& to);

 private:
  TokenSet const& m_tokens;
  TextWindows const& m_windows;
  Recipe m_recipe;
  std::vector<std::int32_t> m_window;
  std::vector<std::uint8_t> m_learned;  // empty if all tokens are learned
  std::vector<std::int64_t> m_starts, m_scratch;
  SequenceBuffer m_sequence;
};

}  // namespace spillway
