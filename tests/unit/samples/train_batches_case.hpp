// A text of 20 windows, the buffers of a batch, and batches of windows of that text.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/tokens/token_writer.hpp"
#include "samples/batches.hpp"

namespace spillway::test {

inline constexpr std::int64_t kSequence = 5, kTokens = 101;  // 20 windows
inline Recipe const kRecipe{.lengths = {kSequence}, .window = kSequence};
// Documents of one token, of several windows, and such as begin and end with windows.
inline std::vector<std::int64_t> const kStarts = {0, 1, 2, 30, 35, 43, 44, 100};

struct Batch {
  explicit Batch(std::int64_t micro)
      : tokens(rows(micro)),
        documents(rows(micro), -2),
        targets(rows(micro)),
        weights(rows(micro), -1.0f),
        samples(rows(micro)) {}
  static std::size_t rows(std::int64_t micro) {
    return static_cast<std::size_t>(micro * kSequence);
  }
  BatchBuffers buffers() {
    auto const bytes = [](auto& values) { return std::as_writable_bytes(std::span(values)); };
    return BatchBuffers({{BatchField::tokens, 0, bytes(tokens)},
                         {BatchField::documents, 0, bytes(documents)},
                         {BatchField::targets, 0, bytes(targets)},
                         {BatchField::weights, 0, bytes(weights)},
                         {BatchField::samples, 0, bytes(samples)}});
  }

  std::vector<std::int32_t> tokens, documents, targets;
  std::vector<float> weights;
  std::vector<std::int64_t> samples;
};

// Token i of the file is i: a window tells its place.
class Batches : public testing::Test {
 protected:
  void SetUp() override {
    m_path = std::filesystem::temp_directory_path() /
             ("train_batches_" + std::to_string(::getpid()) + ".h5");
    std::vector<std::int32_t> tokens(kTokens);
    std::iota(tokens.begin(), tokens.end(), 0);
    TokenWriter writer(Output(m_path), "byte", 256, kTokens, std::ssize(kStarts));
    writer.append(tokens);
    writer.close(kStarts);
    m_tokens.emplace("data.train", std::vector{m_path.string()});
  }
  void TearDown() override {
    m_tokens.reset();
    std::filesystem::remove(m_path);
  }

  std::filesystem::path m_path;
  std::optional<TokenSet> m_tokens;
  // Batches of windows of m_tokens.
  TrainBatches batches_of(DataOrder const& order, Recipe const& recipe, BatchShape const& shape) {
    return {{{text_of({m_path.string()}, recipe), order}}, recipe, shape};
  }
  EvalBatches eval_batches_of(Recipe const& recipe, BatchShape const& shape, std::int64_t windows) {
    return {text_of({m_path.string()}, recipe), recipe, shape, windows};
  }

  // The text lives as long as the test.
  SampledText const& text_of(std::vector<std::string> const& paths, Recipe const& recipe) {
    TokenSet tokens("data.train", paths);
    TextWindows windows(tokens, recipe);
    return m_texts.emplace_back(std::move(tokens), std::move(windows));
  }

  std::deque<SampledText> m_texts;
  DataOrder m_order{20, 3};
};

}  // namespace spillway::test
