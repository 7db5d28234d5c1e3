#include "tokenizer/vocabulary.hpp"

#include <algorithm>

namespace spillway {

void Vocabulary::add(std::string token, std::int32_t id) {
  m_ids[token] = id;
  m_tokens[id] = std::move(token);
  m_end_id = std::max(m_end_id, std::int64_t{id} + 1);
}

}  // namespace spillway
