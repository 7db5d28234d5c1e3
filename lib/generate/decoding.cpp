#include "generate/decoding.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.hpp"
#include "model/model.hpp"

namespace spillway {

std::vector<Decoding> decodings(Config const& config, std::int64_t vocab, std::int64_t prompt,
                                std::int64_t more) {
  auto const most = most_rows(completed(config, vocab));
  switch (objective_of(config)) {
    case Objective::masked:
      if (most && prompt > *most)
        throw Error(
            Status::bad_input,
            fmt::format("generate: the prompt has {} tokens; the model has positions for {}",
                        prompt, *most));
      return {{.rows = prompt}};
    case Objective::spans:
      return {{.capacity = more, .inputs = prompt},
              {.capacity = more, .inputs = prompt, .encodes = false}};
    case Objective::next:
      break;
  }
  auto const capacity = std::min(prompt + more, most.value_or(prompt + more));
  // When the cache is full, half of it is read again, several rows at a time, as a prompt is.
  auto const read_at_once = prompt + more > capacity ? std::max(prompt, capacity / 2) : prompt;
  auto const rows = std::min({kPromptRows, read_at_once, capacity});
  return {{.rows = rows, .capacity = capacity}, {.rows = 1, .capacity = capacity}};
}

// A step of the first graph always has m_rows rows, so the last step that reads a prompt may repeat
// rows that the cache already holds.
DecodeStep DecodeOrder::next(std::int64_t tokens) {
  if (tokens - m_first > m_capacity) {
    m_first = tokens - std::max<std::int64_t>(1, m_capacity / 2);
    m_kept = 0;
  }
  auto const wanted = tokens - m_first;
  bool const of_prompt = wanted >= m_rows && (m_kept == 0 || wanted - m_kept > 1);
  auto const rows = of_prompt ? m_rows : 1;
  auto const position = std::min(m_kept, wanted - rows);
  m_kept = position + rows;
  return {of_prompt, m_first + position, position, rows};
}

}  // namespace spillway
