// Files of tokens that are read back, and such as are damaged or hold no tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/h5/h5_file.hpp"
#include "io/tokens/token_file.hpp"
#include "io/tokens/token_head.hpp"
#include "tests/unit/io/tokens_case.hpp"

namespace spillway::tokens_test {
namespace {

namespace fs = std::filesystem;
using test::TokensTest;

std::vector<std::int32_t> count_up(std::int64_t size, std::int32_t modulus) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<std::int32_t>(i * 7) % modulus;
  }
  return tokens;
}

TEST_F(TokensTest, every_width_reads_back_at_any_position) {
  for (std::int32_t vocab : {256, 257, 65'536, 65'537, 1 << 20}) {
    auto const tokens = count_up(20'011, vocab);
    TokenFile const file(token_file("t.h5", vocab, tokens));
    EXPECT_EQ(file.vocab(), vocab);
    ASSERT_EQ(file.count(), 20'011);
    EXPECT_EQ(file.layout().token_bytes, vocab <= 256 ? 1 : vocab <= 65'536 ? 2 : 4);
    for (std::int64_t first : {0, 1, 4'095, 16'384, 20'010}) {
      for (std::int64_t size : {0, 1, 513, 20'011}) {
        std::vector<std::int32_t> read(static_cast<std::size_t>(std::min(size, 20'011 - first)));
        file.read(first, read);
        EXPECT_TRUE(std::equal(read.begin(), read.end(), tokens.begin() + first)) << first;
      }
    }
  }
}

TEST_F(TokensTest, llmc_files_of_llama3_are_read) {
  auto const path = m_dir / "llama3.bin";
  std::array<std::int32_t, 256> const header{20240801, 7, 3};
  std::array<std::uint32_t, 3> const tokens{5, 128'255, 70'000};
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<char const*>(header.data()), sizeof header);
  file.write(reinterpret_cast<char const*>(tokens.data()), sizeof tokens);
  file.close();
  TokenFile const read(path);
  EXPECT_EQ(read.layout().tokenizer, "llama3");
  EXPECT_EQ(read.layout().vocab, 128'256);
  std::vector<std::int32_t> got(3);
  read.read(0, got);
  EXPECT_EQ(got, (std::vector<std::int32_t>{5, 128'255, 70'000}));
}

TEST_F(TokensTest, llmc_files_are_read) {
  std::vector<std::uint16_t> tokens(5000);
  std::iota(tokens.begin(), tokens.end(), std::uint16_t{45'000});
  TokenFile const file(llmc_file("t.bin", tokens));
  EXPECT_EQ(file.count(), 5000);
  EXPECT_EQ(file.vocab(), 50'257);
  std::vector<std::int32_t> read(5000);
  file.read(0, read);
  EXPECT_TRUE(std::equal(read.begin(), read.end(), tokens.begin()));
}

TEST_F(TokensTest, a_fingerprint_is_of_what_a_file_holds_wherever_it_lies) {
  auto tokens = count_up(900'000, 256);
  TokenFile const one(token_file("one.h5", 256, tokens)), same(token_file("same.h5", 256, tokens));
  EXPECT_EQ(one.fingerprint(), same.fingerprint());
  EXPECT_NE(one.fingerprint(), TokenFile(token_file("wide.h5", 257, tokens)).fingerprint());
  for (std::size_t const at : {std::size_t{0}, tokens.size() / 2, tokens.size() - 1}) {
    auto other = tokens;
    other[at] ^= 1;
    EXPECT_NE(one.fingerprint(), TokenFile(token_file("other.h5", 256, other)).fingerprint()) << at;
  }
}

TEST_F(TokensTest, a_token_outside_the_vocabulary_is_damage_with_its_position) {
  TokenFile const llmc(llmc_file("t.bin", {1, 2, 50'257, 3}));
  std::vector<std::int32_t> two(2);
  EXPECT_NO_THROW(llmc.read(0, two));
  auto const error = error_of([&] { llmc.read(1, two); });
  EXPECT_EQ(error.status(), Status::damaged);
  EXPECT_EQ(error.what(),
            (m_dir / "t.bin").string() + ": token 2 is 50257, the vocabulary has 50257");

  TokenFile const wide(token_file("t.h5", 1 << 20, {0, -1}));  // all 32 bits set
  EXPECT_EQ(error_of([&] { wide.read(0, two); }).status(), Status::damaged);
}

TEST_F(TokensTest, a_file_that_holds_no_tokens_is_bad_input) {
  auto foreign = H5File::create(m_dir / "foreign.h5");
  foreign.create_dataset("/tokens", H5Type::u8, std::array{std::int64_t{4}});
  foreign.close();
  auto floats = H5File::create(m_dir / "floats.h5");
  floats.set_text("/", "format", "spillway-tokens");
  floats.set_integer("/", "version", 1);
  floats.set_integer("/", "vocab", 256);
  floats.set_text("/", "tokenizer", "byte");
  floats.create_dataset("/tokens", H5Type::f32, std::array{std::int64_t{4}});
  floats.close();
  for (fs::path const& path :
       {text_file("empty.h5", ""), text_file("short.bin", "a"), text_file("text.txt", "some text"),
        llmc_file("none.bin", {}), m_dir / "missing.h5", m_dir, m_dir / "foreign.h5",
        m_dir / "floats.h5"}) {
    auto const error = error_of([&] { TokenFile file(path); });
    EXPECT_EQ(error.status(), Status::bad_input) << error.what();
    EXPECT_EQ(std::string(error.what()).rfind(path.string() + ": ", 0), 0u) << error.what();
  }
}

TEST_F(TokensTest, a_file_cut_short_is_damaged) {
  auto const hdf5 = token_file("t.h5", 256, count_up(9'000, 256));
  auto const llmc = llmc_file("t.bin", {1, 2, 3});
  for (auto const& path : {hdf5, llmc}) {
    fs::resize_file(path, fs::file_size(path) - 1);
    EXPECT_EQ(error_of([&] { TokenFile file(path); }).status(), Status::damaged) << path;
  }
  llmc_file("t.bin", {1, 2, 3});
  std::ofstream(llmc, std::ios::binary | std::ios::app) << "more";
  auto const error = error_of([&] { TokenFile file(llmc); });
  EXPECT_EQ(error.status(), Status::damaged);
  EXPECT_EQ(error.what(),
            llmc.string() + ": longer than it should be: its header says 3 tokens, it has 5");
  fs::resize_file(llmc, 600);
  EXPECT_EQ(error_of([&] { TokenFile file(llmc); }).status(), Status::damaged);
}

TEST_F(TokensTest, any_flipped_bit_changes_no_token_or_is_found) {
  auto const tokens = count_up(20'011, 300);
  auto const path = token_file("t.h5", 300, tokens);
  auto const size = static_cast<std::int64_t>(fs::file_size(path));
  std::int64_t found = 0;
  for (std::int64_t at = 0; at < size; at += 37) {
    std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
    auto const byte = static_cast<char>(stream.seekg(at).get());
    stream.seekp(at).put(static_cast<char>(byte ^ (1 << (at % 8)))).flush();
    std::vector<std::int32_t> read(20'011);
    auto const error = error_of([&] { TokenFile(path).read(0, read); });
    EXPECT_TRUE(error.status() == Status::damaged || read == tokens) << at;
    found += error.status() == Status::damaged ? 1 : 0;
    stream.seekp(at).put(byte);
  }
  EXPECT_GE(found * 37, 2 * 20'011);
}

TEST_F(TokensTest, a_damaged_piece_is_named_and_the_others_still_serve) {
  auto const path = token_file("t.h5", 256, count_up(40'000, 256));
  auto const at = TokenFile(path).layout().offset_bytes + 20'000;
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).seekp(at).put('\x7f');
  TokenFile const file(path);
  std::vector<std::int32_t> some(100);
  EXPECT_NO_THROW(file.read(16'284, some));
  EXPECT_NO_THROW(file.read(32'768, some));
  auto const error = error_of([&] { file.read(16'300, some); });
  EXPECT_EQ(error.status(), Status::damaged);
  EXPECT_EQ(error.what(), path.string() + ": tokens 16384 to 32767 are not what was written");
}

TEST_F(TokensTest, heads_that_say_what_cannot_be_are_damage) {
  TokenLayout const sound = TokenFile(token_file("t.h5", 256, count_up(100, 256))).layout();
  auto const expect_refused = [&](auto const& change) {
    auto layout = sound;
    change(layout);
    auto const head = token_head(layout);
    std::fstream(m_dir / "t.h5", std::ios::binary | std::ios::in | std::ios::out)
        .write(head.data(), static_cast<std::streamsize>(head.size()));
    auto const error = error_of([&] { TokenFile file(m_dir / "t.h5"); });
    EXPECT_TRUE(error.status() == Status::damaged || error.status() == Status::bad_input)
        << error.what();
  };
  expect_refused([](auto& layout) { layout.count = std::int64_t{1} << 61; });
  expect_refused([](auto& layout) { layout.count = std::int64_t{1} << 52; });
  expect_refused([](auto& layout) { layout.count = -1; });
  expect_refused([](auto& layout) { layout.count = 0; });
  expect_refused([](auto& layout) { layout.vocab = 0; });
  expect_refused([](auto& layout) { layout.vocab = std::int64_t{1} << 32; });
  expect_refused([](auto& layout) { layout.token_bytes = 3; });
  expect_refused([](auto& layout) { layout.token_bytes = 0; });
  expect_refused([](auto& layout) { layout.offset_bytes = std::int64_t{1} << 50; });
  expect_refused([](auto& layout) { layout.documents = std::int64_t{1} << 51; });
  expect_refused([](auto& layout) { layout.checksums_offset_bytes = std::int64_t{1} << 51; });
  expect_refused([](auto& layout) { layout.tokenizer = "\033[2J"; });
}

}  // namespace
}  // namespace spillway::tokens_test
