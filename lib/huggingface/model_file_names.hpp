// Lists the files that lie beside the weights of published models; only for this folder's sources.
#pragma once

#include <iterator>
#include <span>
#include <string_view>

#include "huggingface/description.hpp"
#include "io/h5/carried_files.hpp"

namespace spillway {

inline constexpr char const *kGenerationFile = "generation_config.json",
                            *kTokenizerConfig = "tokenizer_config.json";

// These describe the model, or are what transformers saves beside vocabularies, with the files of
// processors.
inline constexpr std::string_view kDescriptionNames[] = {kConfigFile, kGenerationFile};
inline constexpr std::string_view kTemplateNames[] = {"chat_template.jinja", "chat_template.json"};
inline constexpr std::string_view kBesideVocabularies[] = {
    kTokenizerConfig, "special_tokens_map.json", "processor_config.json",
    "preprocessor_config.json"};
// These are the vocabularies that tokenizers of transformers read (VOCAB_FILES_NAMES of its
// classes, and the files of mistral_common). OpenAI's own GPT-2 has encoder.json and vocab.bpe.
inline constexpr std::string_view kVocabularyNames[] = {"tokenizer.json",
                                                        "added_tokens.json",
                                                        "vocab.json",
                                                        "merges.txt",
                                                        "vocab.txt",
                                                        "vocab.bpe",
                                                        "encoder.json",
                                                        "tokenizer.model",
                                                        "tokenizer.model.v1",
                                                        "tokenizer.model.v2",
                                                        "tokenizer.model.v3",
                                                        "tokenizer.model.v7",
                                                        "tekken.json",
                                                        "spiece.model",
                                                        "spm.model",
                                                        "sentencepiece.model",
                                                        "sentencepiece.bpe.model",
                                                        "spm_char.model",
                                                        "prophetnet.tokenizer",
                                                        "dict.txt",
                                                        "emoji.json",
                                                        "entity_vocab.json"};
inline constexpr std::span<std::string_view const> kModelFileNames[] = {
    kDescriptionNames, kTemplateNames, kBesideVocabularies, kVocabularyNames};
static_assert(std::size(kDescriptionNames) + std::size(kTemplateNames) +
                      std::size(kBesideVocabularies) + std::size(kVocabularyNames) <
                  kMostCarriedFiles,
              "the types of tensors are carried, too");

}  // namespace spillway
