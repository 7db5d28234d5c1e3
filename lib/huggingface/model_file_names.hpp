// Lists the files that lie beside the weights of published models; only for this folder's sources.
#pragma once

#include <array>
#include <string_view>

#include "huggingface/description.hpp"
#include "io/h5/carried_files.hpp"

namespace spillway {

// These are the vocabularies that tokenizers of transformers read (VOCAB_FILES_NAMES of its
// classes, and the files of mistral_common), what transformers saves beside them, and the files of
// processors. OpenAI's own GPT-2 has encoder.json and vocab.bpe.
inline constexpr std::array<std::string_view, 30> kModelFileNames = {kConfigFile,
                                                                     "generation_config.json",
                                                                     "tokenizer.json",
                                                                     "tokenizer_config.json",
                                                                     "special_tokens_map.json",
                                                                     "added_tokens.json",
                                                                     "chat_template.jinja",
                                                                     "chat_template.json",
                                                                     "processor_config.json",
                                                                     "preprocessor_config.json",
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
static_assert(kModelFileNames.size() < kMostCarriedFiles, "the types of tensors are carried, too");

}  // namespace spillway
