// What is said of files that are no token files, or no sound ones.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/file/output.hpp"
#include "io/h5/h5_file.hpp"
#include "io/tokens/token_head.hpp"
#include "io/tokens/token_set.hpp"
#include "io/tokens/token_writer.hpp"
#include "tests/support/refusals.hpp"
#include "tests/support/tokenize_bytes.hpp"

namespace spillway::test::token_refusals_test {
namespace {

namespace fs = std::filesystem;

class TokenRefusals : public testing::Test {
 protected:
  TokenRefusals() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir);
  }
  ~TokenRefusals() override { fs::remove_all(m_dir); }

  // llm.c's, with so many 16-bit zeros.
  fs::path llmc(std::array<std::int32_t, 3> const& begin, std::size_t tokens) const {
    std::array<std::int32_t, 256> header{};
    std::ranges::copy(begin, header.begin());
    std::ofstream file(m_dir / "llmc", std::ios::binary);
    file.write(reinterpret_cast<char const*>(header.data()), sizeof header);
    file << std::string(2 * tokens, '\0');
    return m_dir / "llmc";
  }
  // Of version 1, which has no head, but for what `change` makes of it.
  template <class F>
  fs::path hdf5(std::int64_t version, F const& change) const {
    auto file = H5File::create(m_dir / "hdf5");
    file.set_text("/", "format", "spillway-tokens");
    file.set_integer("/", "version", version);
    file.set_text("/", "tokenizer", "byte");
    file.set_integer("/", "vocab", 256);
    change(file);
    file.close();
    return m_dir / "hdf5";
  }
  fs::path tokens(std::string const& name, std::int64_t vocab) const {
    TokenWriter writer(Output(m_dir / name), "test", vocab, 20, 1);
    writer.append(std::vector<std::int32_t>(20, 3));
    writer.close(std::array{std::int64_t{0}});
    return m_dir / name;
  }
  void open(std::string const& what, fs::path const& path) {
    m_said.add(what, [&] { TokenFile file(path); });
  }

  fs::path const m_dir = fs::path(testing::TempDir()) / "spillway_token_refusals";
  Refusals m_said{m_dir};
};

TEST_F(TokenRefusals, of_files_say_what_they_are_instead) {
  open("missing", m_dir / "none");
  open("a directory", m_dir);
  std::ofstream(m_dir / "empty") << "";
  open("empty", m_dir / "empty");
  std::ofstream(m_dir / "text") << "some text";
  open("text", m_dir / "text");
  open("another version of gpt2's", llmc({20240520, 2, 3}, 3));
  open("another version of llama3's", llmc({20240801, 1, 3}, 6));
  open("cut short", llmc({20240520, 1, 4}, 3));
  open("longer", llmc({20240520, 1, 2}, 3));
  open("half a token of llama3's", llmc({20240801, 7, 1}, 3));
  open("no tokens", llmc({20240520, 1, 0}, 0));
  fs::resize_file(m_dir / "llmc", 1023);
  open("cut in its header", m_dir / "llmc");
  std::array const one{std::int64_t{8}};
  auto const nothing = [](H5File&) {};
  open("a later version", hdf5(9, nothing));
  open("this version without a head", hdf5(2, nothing));
  open("no rows of tokens", hdf5(1, nothing));
  open("tokens of 64 bits",
       hdf5(1, [&](auto& file) { file.create_dataset("/tokens", H5Type::i64, one); }));
  open("a table of tokens", hdf5(1, [&](auto& file) {
         file.create_dataset("/tokens", H5Type::u8, std::array<std::int64_t, 2>{4, 2});
       }));
  open("tokens of other files", hdf5(1, [&](auto& file) {
         file.create_virtual("/tokens", H5Type::u8, one, std::array{H5Source{"a.h5", "/t", 8}});
       }));
  open("documents of 16 bits", hdf5(1, [&](auto& file) {
         file.create_dataset("/tokens", H5Type::u16, one);
         file.create_dataset("/document_starts", H5Type::u16, one);
       }));
  H5File::create(m_dir / "other").close();
  open("HDF5 of others", m_dir / "other");
  m_said.expect_frozen("token_files");
}

TEST_F(TokenRefusals, of_heads_name_the_number_that_cannot_be) {
  auto const sound = nlohmann::ordered_json::parse(to_json(TokenFile(tokens("t", 256)).layout()));
  auto const with = [&](char const* key, nlohmann::ordered_json const& value) {
    auto json = sound;
    json[key] = value;
    m_said.add(fmt::format("{}: {}", key, value.dump().substr(0, 30)),
               [&] { token_layout_from_json(json.dump(), "/head"); });
  };
  for (auto const* key :
       {"vocab", "token_bytes", "tokens", "tokens_at", "documents", "documents_at", "checksums_at"})
    for (int const value : {-1, 0, 3, 5}) with(key, value);
  for (auto const* key : {"vocab", "tokens", "tokens_at", "documents", "documents_at"})
    with(key, (std::int64_t{1} << 52) + 1);
  with("vocab", std::int64_t{1} << 31);
  with("tokens", 1.5);
  for (auto const* key : {"kind", "tokenizer", "documents_xxh3"})
    for (auto const& text : {std::string(256, 'x'), std::string(257, 'x'), std::string("a\nb")})
      with(key, text);
  with("kind", 7);
  m_said.add("no JSON", [] { token_layout_from_json("{", "/head"); });
  TokenLayout long_name;
  long_name.tokenizer = std::string(5000, 'x');
  m_said.add("a long name", [&] { token_head(long_name); });
  m_said.expect_frozen("token_heads");
}

TEST_F(TokenRefusals, of_damage_and_of_wrong_use_say_where) {
  auto const path = tokens("t.h5", 256);
  auto const layout = TokenFile(path).layout();
  auto const sound = fs::file_size(path);
  auto const change = [&](std::string const& what, std::int64_t at) {
    tokens("t.h5", 256);
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).seekp(at).put('\x7f');
    open(what, path);
  };
  change("a changed head", 40);
  change("a changed table of documents", layout.documents_offset_bytes);
  tokens("t.h5", 256);
  m_said.add("tokens beyond the end", [&] {
    std::array<std::int32_t, 3> three{};
    TokenFile(path).read(18, three);
  });
  m_said.add("a set's tokens beyond the end", [&] {
    std::array<std::int32_t, 3> three{};
    TokenSet("data.train", std::array{path.string()}).read(18, three);
  });
  auto const other = tokens("u.h5", 257);
  m_said.add("two vocabularies", [&] {
    TokenSet("data.train", std::array{path.string(), other.string()});
  });
  m_said.add("no files", [] { TokenSet("data.valid", {}); });
  m_said.add("no text", [&] { test::tokenize_bytes({}, Output(m_dir / "out"), false); });
  for (std::int64_t const announced : {19, 21})
    m_said.add(fmt::format("20 tokens of {}", announced), [&] {
      TokenWriter writer(Output(m_dir / "out"), "test", 256, announced, 1);
      writer.append(std::vector<std::int32_t>(20));
      writer.close(std::array{std::int64_t{0}});
    });
  m_said.add("one document of 2", [&] {
    TokenWriter writer(Output(m_dir / "out"), "test", 256, 20, 2);
    writer.append(std::vector<std::int32_t>(20));
    writer.close(std::array{std::int64_t{0}});
  });
  EXPECT_FALSE(fs::exists(m_dir / "out"));
  m_said.expect_frozen("token_use");
  fs::resize_file(path, sound - 1);
  auto const end = layout.documents_offset_bytes + 8 > layout.checksums_offset_bytes + 8
                       ? fmt::format("1 x 8 from {} on", layout.documents_offset_bytes)
                       : fmt::format("1 x 8 from {} on", layout.checksums_offset_bytes);
  Refusals cut(m_dir);
  cut.add("cut", [&] { TokenFile file(path); });
  EXPECT_EQ(cut.text(),
            fmt::format("cut\n  5: /t.h5: cut short: {} bytes of at least {}\n", sound - 1, end));
}

}  // namespace
}  // namespace spillway::test::token_refusals_test
