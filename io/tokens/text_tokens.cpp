#include "io/tokens/text_tokens.hpp"

#include <fmt/core.h>

#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "io/file/path_names.hpp"
#include "io/tokens/text_pieces.hpp"
#include "io/tokens/token_spool.hpp"
#include "io/tokens/token_writer.hpp"

namespace spillway {
namespace {

struct PieceTokens {
  TextPiece piece;
  std::vector<std::int32_t> ids;
};

// An EncodingTeam has an Encoder for each thread. Which thread takes a piece changes no token.
class EncodingTeam {
 public:
  EncodingTeam(Tokenizer const& tokenizer, std::size_t threads) : m_failures(threads) {
    for (std::size_t i = 0; i < threads; ++i) m_encoders.push_back(tokenizer.encoder());
  }

  void encode(std::vector<PieceTokens>& pieces) {
    std::atomic<std::size_t> next = 0;
    auto const work = [&](std::size_t thread) noexcept {
      try {
        for (auto i = next++; i < pieces.size(); i = next++)
          m_encoders[thread]->encode(pieces[i].piece.text, pieces[i].ids);
      } catch (...) {
        m_failures[thread] = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < m_encoders.size(); ++i) others.emplace_back(work, i);
      work(0);
    }
    for (auto const& failure : m_failures)
      if (failure) std::rethrow_exception(failure);
  }

 private:
  std::vector<std::unique_ptr<Encoder>> m_encoders;
  std::vector<std::exception_ptr> m_failures;
};

// Reads as many pieces as keep all threads busy for a while. Returns none at the end.
std::vector<PieceTokens> next_pieces(TextPieces& texts, std::size_t threads) {
  constexpr std::size_t pieces_of_thread = 8;
  std::vector<PieceTokens> pieces;
  while (pieces.size() < threads * pieces_of_thread) {
    auto piece = texts.next();
    if (piece.text.empty() && !piece.ends_document) break;
    pieces.push_back({std::move(piece), {}});
  }
  return pieces;
}

// The tokens of all texts, before it is known how many there are.
struct Collected {
  TokenSpool tokens;
  std::vector<std::int64_t> starts = {};
  std::int64_t empty_texts = 0;  // of which a normalizer has left nothing
};

// Two documents cannot begin at one token: one without a token is left out.
void end_document(Collected& all, std::int64_t begin, std::int32_t const* separator) {
  if (all.tokens.count() == begin) {
    ++all.empty_texts;
    return;
  }
  all.starts.push_back(begin);
  if (separator != nullptr) all.tokens.append({separator, 1});
}

void collect(TextPieces& texts, Tokenizer const& tokenizer, TextTokensWork const& work,
             std::function<void(std::int64_t)> const& told, Collected& all) {
  EncodingTeam team(tokenizer, work.threads);
  auto const* const separator = work.separator ? &*tokenizer.facts().end : nullptr;
  std::int64_t begin = 0;
  for (auto pieces = next_pieces(texts, work.threads); !pieces.empty();
       pieces = next_pieces(texts, work.threads)) {
    team.encode(pieces);
    for (auto const& [piece, ids] : pieces) {
      all.tokens.append(ids);
      if (told) told(std::ssize(piece.text));
      if (!piece.ends_document) continue;
      end_document(all, begin, separator);
      begin = all.tokens.count();
    }
  }
}

void write(Collected const& all, TokenWriter& writer) {
  std::vector<std::int32_t> buffer(1 << 16);
  for (std::int64_t first = 0; first < all.tokens.count();) {
    auto const count = all.tokens.read(first, buffer);
    writer.append(std::span(buffer).first(count));
    first += static_cast<std::int64_t>(count);
  }
  writer.close(all.starts);
}

}  // namespace

TokenizeResult tokenize_texts(std::span<std::filesystem::path const> files,
                              Tokenizer const& tokenizer, Output const& out,
                              TextTokensWork const& work,
                              std::function<void(std::int64_t bytes)> const& told) {
  auto const& facts = tokenizer.facts();
  if (work.separator && !facts.end)
    throw Error(Status::bad_input,
                fmt::format("--separator: {}: no file beside the tokenizer says which token ends "
                            "texts (eos_token or sep_token of tokenizer_config.json)",
                            facts.name));
  auto const inputs = survey(files);
  TextPieces texts(inputs.files, tokenizer, work.piece_bytes);
  Collected all{TokenSpool(directory_of(out.path()))};
  collect(texts, tokenizer, work, told, all);
  if (all.starts.empty())
    throw Error(Status::bad_input, "tokenize: the tokenizer makes no token of the files given");
  TokenWriter writer(out, facts.name, facts.vocab, all.tokens.count(), std::ssize(all.starts),
                     facts.checksum);
  write(all, writer);
  return {all.tokens.count(), std::ssize(all.starts), inputs.empty_files + all.empty_texts};
}

}  // namespace spillway
