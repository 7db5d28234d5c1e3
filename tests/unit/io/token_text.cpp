// What a token file says of itself, to this program and to others.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/checksum.hpp"
#include "io/file/seal.hpp"
#include "io/h5/h5_file.hpp"
#include "io/inspect/describe.hpp"
#include "io/tokens/token_file.hpp"
#include "io/tokens/token_head.hpp"
#include "io/tokens/token_writer.hpp"

namespace spillway::token_text_test {
namespace {

namespace fs = std::filesystem;

class TokenText : public testing::Test {
 protected:
  TokenText() { fs::create_directories(m_dir); }
  ~TokenText() override { fs::remove_all(m_dir); }

  fs::path write(std::int64_t count, std::int64_t vocab, std::vector<std::int64_t> const& starts) {
    auto const path = m_dir / "t.h5";
    TokenWriter writer(Output(path), "words", vocab, count, std::ssize(starts));
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = static_cast<std::int32_t>((i * i + i / 3) % static_cast<std::size_t>(vocab));
    writer.append(std::span(tokens).first(tokens.size() / 3));
    writer.append(std::span(tokens).subspan(tokens.size() / 3));
    writer.close(starts);
    return path;
  }
  fs::path write_llmc(std::size_t count) {
    std::array<std::int32_t, 256> const header{20240520, 1, static_cast<std::int32_t>(count)};
    std::ofstream file(m_dir / "t.bin", std::ios::binary);
    file.write(reinterpret_cast<char const*>(header.data()), sizeof header);
    for (std::size_t i = 0; i < count; ++i) {
      auto const token = static_cast<std::uint16_t>((i * i + i / 3) % 50'000);
      file.write(reinterpret_cast<char const*>(&token), 2);
    }
    return m_dir / "t.bin";
  }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway_token_text";
};

TEST_F(TokenText, of_a_head_has_every_field_under_its_name) {
  TokenLayout const layout{.kind = "HDF5",
                           .tokenizer = "words",
                           .vocab = 1001,
                           .count = 2002,
                           .documents = 303,
                           .offset_bytes = 4096,
                           .token_bytes = 2,
                           .documents_offset_bytes = 50'500,
                           .checksums_offset_bytes = 60'600,
                           .documents_checksum = "0123456789abcdef"};
  auto const text = to_json(layout);
  EXPECT_EQ(text,
            R"({"format":"spillway-tokens","version":2,"kind":"HDF5","tokenizer":"words",)"
            R"("vocab":1001,"token_bytes":2,"tokens":2002,"tokens_at":4096,"documents":303,)"
            R"("documents_at":50500,"checksums_at":60600,"documents_xxh3":"0123456789abcdef"})");
  EXPECT_EQ(to_json(token_layout_from_json(text, "head")), text);
  auto const head = token_head(layout);
  EXPECT_EQ(std::ssize(head), 4096);
  EXPECT_EQ(unsealed(head.substr(0, head.find('\0'))), text + "\n");
  EXPECT_EQ(to_json(read_token_head(head, "head")), text);
  EXPECT_TRUE(has_token_head(head));
}

TEST_F(TokenText, in_hdf5_is_what_others_read) {
  auto const path = write(40'000, 300, {0, 7, 30'000});
  auto const file = H5File::open(path);
  EXPECT_EQ(file.attributes("/"),
            (std::vector<std::string>{"format", "tokenizer", "version", "vocab"}));
  EXPECT_EQ(file.text("/", "format"), "spillway-tokens");
  EXPECT_EQ(file.integer("/", "version"), 2);
  EXPECT_EQ(file.text("/", "tokenizer"), "words");
  EXPECT_EQ(file.integer("/", "vocab"), 300);
  EXPECT_EQ(file.children("/"),
            (std::vector<std::string>{"document_starts", "piece_checksums", "tokens"}));
  EXPECT_EQ(file.read<std::int64_t>("/document_starts", 9),
            (std::vector<std::int64_t>{0, 7, 30'000}));
  auto const tokens = file.read<std::uint16_t>("/tokens", 40'000);
  auto const sums = file.read<std::int64_t>("/piece_checksums", 9);
  ASSERT_EQ(sums.size(), 5u);
  for (std::size_t piece = 0; piece < sums.size(); ++piece) {
    auto const begin = piece * 8192;
    auto const part = std::span(tokens).subspan(begin, std::min<std::size_t>(8192, 40'000 - begin));
    EXPECT_EQ(static_cast<std::uint64_t>(sums[piece]), checksum(std::as_bytes(part))) << piece;
  }
  auto const layout = TokenFile(path).layout();
  EXPECT_EQ(layout.kind, "HDF5");
  EXPECT_EQ(layout.tokenizer, "words");
  EXPECT_EQ(layout.documents, 3);
  EXPECT_EQ(layout.offset_bytes, file.offset_bytes("/tokens"));
  EXPECT_EQ(layout.documents_offset_bytes, file.offset_bytes("/document_starts"));
  EXPECT_EQ(layout.checksums_offset_bytes, file.offset_bytes("/piece_checksums"));
}

// Runs that were saved before know their texts by these.
TEST_F(TokenText, in_a_fingerprint_is_what_it_was_in_earlier_versions) {
  EXPECT_EQ(TokenFile(write(100, 256, {0})).fingerprint(), "d21bba18fa01baed");
  EXPECT_EQ(TokenFile(write(100, 256, {0, 50})).fingerprint(), "3d26ae7247d5f165");
  EXPECT_EQ(TokenFile(write(40'000, 70'000, {0})).fingerprint(), "239385ae6d941e9a");
  EXPECT_EQ(TokenFile(write_llmc(2'100)).fingerprint(), "d4b68a0fc9061fe3");
  EXPECT_EQ(TokenFile(write_llmc(65'536)).fingerprint(), "2f67c8ffd078d93d");
  EXPECT_EQ(TokenFile(write_llmc(70'000)).fingerprint(), "5f87c74973f04ee9");
}

TEST_F(TokenText, of_a_description_has_numbers_where_tokens_are_no_bytes) {
  auto const path = write(8, 300, {0, 4});
  EXPECT_EQ(describe(path), "token file " + path.string() +
                                " (HDF5)\n"
                                "  tokens      8 of 16 bits\n"
                                "  vocabulary  300 (words)\n"
                                "  documents   2\n"
                                "  begins      0 1 4 10 17 26 38 51\n");
  auto const llmc = write_llmc(61);
  auto const text = describe(llmc);
  EXPECT_TRUE(text.starts_with("token file " + llmc.string() +
                               " (llm.c)\n"
                               "  tokens      61 of 16 bits\n"
                               "  vocabulary  50257 (gpt2)\n"
                               "  begins      0 1 4 10 "))
      << text;
  EXPECT_TRUE(text.ends_with(" 3383 3500\n")) << text;
}

}  // namespace
}  // namespace spillway::token_text_test
