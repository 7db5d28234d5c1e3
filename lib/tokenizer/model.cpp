#include "tokenizer/model.hpp"

#include <fmt/core.h>

#include <string>

#include "tokenizer/by_type.hpp"

namespace spillway {
namespace {

// Early files do not say the type: only BPE has merges, and only Unigram has a list as vocabulary.
std::string type_of(JsonNode const& node) {
  if (node.has("type")) return node.text("type");
  if (node.has("merges")) return "BPE";
  return node.at("vocab").value().is_array() ? "Unigram" : "WordPiece";
}

}  // namespace

std::unique_ptr<SubwordModel> read_model(JsonNode const& node) {
  static ByType<std::unique_ptr<SubwordModel>> const models = {
      {"BPE", read_bpe}, {"WordPiece", read_word_piece}, {"Unigram", read_unigram}};
  return read_by_type(models, type_of(node), node);
}

Vocabulary read_vocabulary(JsonNode const& node) {
  auto const list = node.at("vocab");
  if (!list.value().is_object()) list.refuse("is no object");
  Vocabulary vocabulary;
  for (auto const& [token, id] : list.value().items())
    vocabulary.add(token, JsonNode(id, list.place() + ": " + token).as_id());
  return vocabulary;
}

std::string byte_token(unsigned char byte) {
  return fmt::format("<0x{:02X}>", byte);
}

}  // namespace spillway
