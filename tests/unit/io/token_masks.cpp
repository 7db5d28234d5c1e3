// Token files say which tokens are learned; that is proved as tokens are, and tells files apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/h5/h5_file.hpp"
#include "io/tokens/token_file.hpp"
#include "io/tokens/token_set.hpp"
#include "tests/unit/io/tokens_case.hpp"

namespace spillway::token_masks_test {
namespace {

namespace fs = std::filesystem;

class TokenMasks : public test::TokensTest {
 protected:
  static constexpr std::int64_t kCount = 40'000;

  TokenMasks() {
    for (std::int64_t i = 0; i < kCount; ++i) {
      m_tokens.push_back(static_cast<std::int32_t>(i % 300));
      m_mask.push_back(i * i % 7 < 3 ? 1 : 0);
    }
  }

  fs::path masked_file(std::string const& name, std::vector<std::uint8_t> const& mask) const {
    TokenWriter writer(Output(m_dir / name), "test", 300, kCount, 1, "", true);
    writer.append(m_tokens);
    auto const all = std::span(mask);
    writer.append_mask(all.first(7));
    writer.append_mask(all.subspan(7));
    writer.close(std::array{std::int64_t{0}});
    return m_dir / name;
  }

  std::vector<std::int32_t> m_tokens;
  std::vector<std::uint8_t> m_mask;
};

TEST_F(TokenMasks, are_read_at_any_place_as_they_were_written) {
  TokenFile const file(masked_file("t.h5", m_mask));
  ASSERT_TRUE(file.has_mask());
  EXPECT_EQ(file.layout().learned, std::ranges::count(m_mask, 1));
  for (std::int64_t const first : {0, 1, 16'383, 16'384, 30'000, 39'999})
    for (std::int64_t const size : {0, 1, 2, 17'000, 40'000}) {
      std::vector<std::uint8_t> read(static_cast<std::size_t>(std::min(size, kCount - first)));
      file.read_mask(first, read);
      EXPECT_TRUE(std::ranges::equal(read, std::span(m_mask).subspan(first, read.size())));
    }
  std::vector<std::int32_t> tokens(kCount);
  file.read(0, tokens);
  EXPECT_EQ(tokens, m_tokens);
  auto const hdf5 = H5File::open(m_dir / "t.h5");  // as others see it
  EXPECT_EQ(hdf5.read<std::uint8_t>("/loss_mask", kCount), m_mask);
  EXPECT_EQ(hdf5.integer("/", "version"), 3);
}

TEST_F(TokenMasks, that_were_changed_are_damaged) {
  auto const path = masked_file("t.h5", m_mask);
  auto const at = TokenFile(path).layout().mask_offset_bytes + 20'000;
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(at).put(static_cast<char>(1 - m_mask[20'000]));
  file.close();
  TokenFile const changed(path);
  std::vector<std::uint8_t> read(10);
  EXPECT_NO_THROW(changed.read_mask(0, read));
  auto const error = error_of([&] { changed.read_mask(20'010, read); });
  EXPECT_EQ(error.status(), Status::damaged);
  EXPECT_EQ(error.what(),
            path.string() + ": the mask of tokens 16384 to 32767 are not what was written");
}

TEST_F(TokenMasks, tell_files_of_the_same_tokens_apart) {
  auto other = m_mask;
  other[5] ^= 1;
  TokenFile const one(masked_file("1.h5", m_mask)), again(masked_file("2.h5", m_mask)),
      changed(masked_file("3.h5", other)), without(token_file("4.h5", 300, m_tokens));
  EXPECT_EQ(one.fingerprint(), again.fingerprint());
  EXPECT_NE(one.fingerprint(), changed.fingerprint());
  EXPECT_NE(one.fingerprint(), without.fingerprint());
}

TEST_F(TokenMasks, of_several_files_are_read_as_one) {
  std::vector<std::string> const files{masked_file("1.h5", m_mask).string(),
                                       token_file("2.h5", 300, m_tokens).string()};
  TokenSet const set("data.train", files);
  ASSERT_TRUE(set.has_mask());
  std::vector<std::uint8_t> read(100), expected(m_mask.end() - 50, m_mask.end());
  expected.resize(100, 1);
  set.read_mask(kCount - 50, read);
  EXPECT_EQ(read, expected);
  EXPECT_FALSE(TokenSet("data.train", std::span(files).subspan(1)).has_mask());
}

TEST_F(TokenMasks, made_elsewhere_are_read_and_looked_at) {
  auto const make = [&](H5Type type, std::vector<std::uint8_t> const& mask) {
    auto const path = m_dir / "made.h5";
    fs::remove(path);
    auto file = H5File::create(path, Status::bad_input, 0);
    file.set_text("/", "format", "spillway-tokens");
    file.set_integer("/", "version", 1);
    file.set_text("/", "tokenizer", "other");
    file.set_integer("/", "vocab", 300);
    std::vector<std::uint16_t> const tokens{1, 2, 3};
    file.create_dataset("/tokens", H5Type::u16, std::array<std::int64_t, 1>{3});
    file.create_dataset("/loss_mask", type, std::array{std::ssize(mask)});
    auto const tokens_at = file.offset_bytes("/tokens"), mask_at = file.offset_bytes("/loss_mask");
    file.close(Durable::no);
    std::fstream bytes(path, std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekp(tokens_at).write(reinterpret_cast<char const*>(tokens.data()), 6);
    bytes.seekp(mask_at).write(reinterpret_cast<char const*>(mask.data()), std::ssize(mask));
    return path;
  };
  std::vector<std::uint8_t> read(3);
  TokenFile(make(H5Type::u8, {0, 1, 1})).read_mask(0, read);
  EXPECT_EQ(read, (std::vector<std::uint8_t>{0, 1, 1}));
  TokenFile const strange(make(H5Type::u8, {0, 1, 2}));
  EXPECT_EQ(error_of([&] { strange.read_mask(0, read); }).what(),
            (m_dir / "made.h5").string() + ": /loss_mask of token 2 is 2, neither 0 nor 1");
  auto const short_mask = make(H5Type::u8, {0, 1});
  EXPECT_EQ(
      error_of([&] { TokenFile{short_mask}; }).what(),
      (m_dir / "made.h5").string() + ": /loss_mask: must be one row of uint8, as long as /tokens");
}

}  // namespace
}  // namespace spillway::token_masks_test
