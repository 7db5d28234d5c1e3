#include <fmt/core.h>

#include "base/error.hpp"
#include "tokenizer/sentence_piece.hpp"

namespace spillway {

std::unique_ptr<Tokenizer const> open_sentence_piece(std::filesystem::path const& path,
                                                     std::string const&, TokenizerFacts) {
  throw Error(Status::bad_input,
              fmt::format("{}: this build reads no models of SentencePiece, since it was made "
                          "without libsentencepiece; give the model's tokenizer.json, or install "
                          "libsentencepiece-dev and build again",
                          path.string()));
}

}  // namespace spillway
