// Added tokens are found in a text before it is split into words: the `added_tokens` of a
// tokenizer.json; only for this folder's sources.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/json_node.hpp"
#include "tokenizer/normalizers.hpp"
#include "tokenizer/prefix_tree.hpp"
#include "tokenizer/vocabulary.hpp"

namespace spillway {

struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;                      // it is found only where no word goes on beside it
  bool left_strip = false, right_strip = false;  // it takes the white space beside it
  bool is_normalized = false;                    // it is looked for after normalization
  bool is_special = false;
};

// A TextPart is a part of a text: an added token, or what stands between them.
struct TextPart {
  std::string_view text;
  std::int32_t id = -1;  // -1: no added token
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // Tokens that are in `vocabulary` have the ids that they have there.
  AddedTokens(std::vector<AddedToken> tokens, Vocabulary const& vocabulary,
              std::vector<Normalizer> const& normalizers);

  // Appends the parts of a text to `parts`: with the tokens that are looked for before it is
  // normalized, or with those that are looked for after it. No special token reaches over one of
  // `barriers`, which are places in `text`, in ascending order.
  void append_parts(std::string_view text, bool is_normalized, std::vector<TextPart>& parts,
                    std::span<std::size_t const> barriers = {}) const;

  // Returns nullptr if no added token has the id.
  AddedToken const* find(std::int32_t id) const {
    auto const found = m_by_id.find(id);
    return found == m_by_id.end() ? nullptr : &m_tokens[found->second];
  }
  std::vector<AddedToken> const& tokens() const { return m_tokens; }
  // Returns whether no added token reaches over a blank between letters of ASCII.
  bool are_local() const;

 private:
  struct Found {
    std::size_t bytes = 0;  // 0: none
    std::size_t token = 0;
  };
  struct Finder {
    PrefixTree tree;  // leads to indices of tokens
    std::array<bool, 0x100> is_first{};
  };

  Found longest(Finder const& finder, std::string_view text) const;

  std::vector<AddedToken> m_tokens;
  std::unordered_map<std::int32_t, std::size_t> m_by_id;
  std::array<Finder, 2> m_finders;  // before normalization and after it
};

// Reads the list `added_tokens` of a tokenizer.json. Throws Error(bad_input) that names what is
// wrong.
std::vector<AddedToken> read_added_tokens(JsonNode const& list);

}  // namespace spillway
