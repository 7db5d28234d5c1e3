#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/error.hpp"
#include "io/h5/h5_file.hpp"
#include "io/tokens/byte_tokenizer.hpp"
#include "io/tokens/token_file.hpp"
#include "io/tokens/token_head.hpp"
#include "io/tokens/token_set.hpp"
#include "io/tokens/token_writer.hpp"

namespace spillway::tokens_test {
namespace {

namespace fs = std::filesystem;

class TokensTest : public testing::Test {
 protected:
  TokensTest() {
    fs::remove_all(m_dir);
    fs::create_directories(m_dir);
  }
  ~TokensTest() override { fs::remove_all(m_dir); }

  fs::path text_file(std::string const& name, std::string const& text) const {
    std::ofstream(m_dir / name, std::ios::binary) << text;
    return m_dir / name;
  }

  fs::path token_file(std::string const& name, std::int64_t vocab,
                      std::vector<std::int32_t> const& tokens) const {
    TokenWriter writer(Output(m_dir / name), "test", vocab,
                       static_cast<std::int64_t>(tokens.size()), 1);
    writer.append(tokens);
    writer.close(std::array{std::int64_t{0}});
    return m_dir / name;
  }

  fs::path llmc_file(std::string const& name, std::vector<std::uint16_t> const& tokens) const {
    std::array<std::int32_t, 256> header{20240520, 1, static_cast<std::int32_t>(tokens.size())};
    std::ofstream file(m_dir / name, std::ios::binary);
    file.write(reinterpret_cast<char const*>(header.data()), 1024);
    file.write(reinterpret_cast<char const*>(tokens.data()),
               static_cast<std::streamsize>(2 * tokens.size()));
    return m_dir / name;
  }

  fs::path m_dir =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

std::vector<std::int32_t> count_up(std::int64_t size, std::int32_t modulus) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<std::int32_t>(i * 7) % modulus;
  }
  return tokens;
}

template <class F>
Error error_of(F action) {
  try {
    action();
  } catch (Error const& error) {
    return error;
  }
  return Error(Status::done, "no error");
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

TEST_F(TokensTest, documents_that_cannot_be_are_damage) {
  for (auto const& starts : std::vector<std::vector<std::int64_t>>{
           {1, 2}, {0, 0}, {0, 100}, {0, -5}, {3, 1}, {0, std::int64_t{1} << 62}}) {
    TokenWriter writer(Output(m_dir / "t.h5"), "test", 256, 100, 2);
    writer.append(std::vector<std::int32_t>(100));
    writer.close(starts);
    auto const error = error_of([&] { TokenFile file(m_dir / "t.h5"); });
    EXPECT_EQ(error.status(), Status::damaged);
    EXPECT_NE(std::string(error.what()).find("a document cannot begin at"), std::string::npos);
  }
}

// Documents of 1 to 5 tokens: the table has several pieces.
class Documents : public TokensTest {
 protected:
  fs::path file(std::string const& name, std::int64_t documents, std::int64_t shift) {
    std::int64_t count = 0;
    std::vector<std::int64_t> starts;
    for (std::int64_t i = 0; i < documents; ++i) {
      starts.push_back(count);
      count += 1 + (i * i + shift) % 5;
    }
    for (auto const start : starts) m_all.push_back(m_count + start);
    m_count += count;
    TokenWriter writer(Output(m_dir / name), "test", 256, count, documents);
    writer.append(std::vector<std::int32_t>(static_cast<std::size_t>(count)));
    writer.close(starts);
    return m_dir / name;
  }
  std::vector<std::int64_t> expected(std::int64_t first, std::int64_t end) const {
    std::vector<std::int64_t> inside;
    std::ranges::copy_if(m_all, std::back_inserter(inside),
                         [&](std::int64_t start) { return start >= first && start < end; });
    return inside;
  }

  std::vector<std::int64_t> m_all;  // the beginnings in all files, one after the other
  std::int64_t m_count = 0;
};

TEST_F(Documents, are_found_in_any_range_of_a_file) {
  TokenFile const one(file("a.h5", 5000, 0));
  for (std::int64_t first = 0; first < m_count; first += 97) {
    for (std::int64_t const size : {0, 1, 2, 100, 9'000, 50'000}) {
      std::vector<std::int64_t> found{-7};  // what was there stays
      one.append_document_starts(first, first + size, found);
      EXPECT_EQ(found.front(), -7);
      found.erase(found.begin());
      EXPECT_EQ(found, expected(first, first + size)) << first << " + " << size;
    }
  }
}

TEST_F(Documents, of_a_set_are_those_of_its_files_and_every_file_begins_one) {
  std::vector<std::string> paths;
  for (auto const* const name : {"a.h5", "b.h5", "c.h5"})
    paths.push_back(file(name, 1 + std::ssize(m_all) * 40, 2).string());
  TokenSet const set("data.train", paths);
  for (std::int64_t first = -13; first < m_count; first += 13) {
    std::vector<std::int64_t> found;
    set.append_document_starts(first, std::min(first + 150, m_count), found);
    EXPECT_EQ(found, expected(first, first + 150)) << first;
  }
}

TEST_F(Documents, are_none_where_the_file_records_none) {
  TokenFile const llmc(llmc_file("t.bin", {1, 2, 3}));
  std::vector<std::int64_t> found;
  llmc.append_document_starts(0, 3, found);
  EXPECT_FALSE(llmc.has_documents());
  EXPECT_TRUE(found.empty());
}

TEST_F(Documents, that_change_after_the_file_was_opened_are_damage) {
  auto const path = file("t.h5", 5000, 0);
  TokenFile const opened(path);
  auto const at = opened.layout().documents_offset_bytes + 8 * 3000;  // in the second piece
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).seekp(at).put('\x7f');
  std::vector<std::int64_t> found;
  EXPECT_NO_THROW(opened.append_document_starts(0, 100, found));
  auto const changed = error_of([&] { opened.append_document_starts(0, m_count, found); });
  EXPECT_EQ(changed.status(), Status::damaged);
  EXPECT_EQ(changed.what(),
            path.string() + ": its documents' beginnings have changed since it was opened");
  EXPECT_EQ(error_of([&] { TokenFile again(path); }).status(), Status::damaged);
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

TEST_F(TokensTest, a_set_is_its_files_in_order_as_one_range) {
  token_file("b.h5", 300, {3, 4});
  token_file("a.h5", 300, {0, 1, 2});
  token_file("z.h5", 300, {5, 6, 7, 8});
  std::vector<std::string> const patterns{(m_dir / "[ab].h5").string(), (m_dir / "z.h5").string()};
  TokenSet const set("data.train", patterns);
  ASSERT_EQ(set.count(), 9);
  EXPECT_EQ(set.vocab(), 300);
  for (std::int64_t first = 0; first < 9; ++first) {
    for (std::int64_t end = first; end <= 9; ++end) {
      std::vector<std::int32_t> read(static_cast<std::size_t>(end - first));
      set.read(first, read);
      for (std::size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i], first + std::int64_t(i));
    }
  }
}

TEST_F(TokensTest, what_is_there_as_it_is_spelled_is_no_pattern) {
  auto const first_of = [&](std::string const& pattern) {
    std::vector<std::string> const patterns{(m_dir / pattern).string()};
    TokenSet const set("data.train", patterns);
    std::vector<std::int32_t> tokens(1);
    set.read(0, tokens);
    return std::pair(tokens[0], set.count());
  };
  token_file("[ab].h5", 300, {1});
  token_file("a.h5", 300, {2});
  fs::create_directories(m_dir / "runs [12] *");
  token_file("runs [12] */x.h5", 300, {3});
  token_file("runs [12] */y.h5", 300, {4});
  fs::create_directories(m_dir / "runs 1 z");
  token_file("runs 1 z/x.h5", 300, {5});
  EXPECT_EQ(first_of("[ab].h5"), std::pair(1, std::int64_t{1}));
  EXPECT_EQ(first_of("[a].h5"), std::pair(2, std::int64_t{1}));
  EXPECT_EQ(first_of("\\[ab].h5"), std::pair(1, std::int64_t{1}));
  EXPECT_EQ(first_of("runs [12] */x.h5"), std::pair(3, std::int64_t{1}));
  EXPECT_EQ(first_of("runs [12] */[xy].h5"), std::pair(3, std::int64_t{2}));
  EXPECT_EQ(first_of("runs [1] z/*.h5"), std::pair(5, std::int64_t{1}));
}

TEST_F(TokensTest, a_pattern_without_files_and_mixed_vocabularies_are_bad_input) {
  token_file("a.h5", 300, {0});
  token_file("b.h5", 301, {0});
  std::vector<std::string> const none{(m_dir / "*.bin").string()}, mixed{(m_dir / "*.h5").string()};
  auto const error = error_of([&] { TokenSet("data.valid", none); });
  EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_EQ(error.what(), "data.valid: no file matches " + none[0]);
  EXPECT_EQ(error_of([&] { TokenSet("data.train", mixed); }).status(), Status::bad_input);
  EXPECT_EQ(error_of([&] { TokenSet("data.train", {}); }).status(), Status::bad_input);
}

TEST_F(TokensTest, bytes_are_tokens_and_files_are_documents) {
  std::vector<fs::path> const inputs{text_file("1.txt", "ab\xff"), text_file("2.txt", ""),
                                     text_file("3.txt", std::string(70'000, 'c'))};
  auto const plain = tokenize_bytes(inputs, Output(m_dir / "plain.h5"), false);
  EXPECT_EQ(plain.tokens, 70'003);
  EXPECT_EQ(plain.documents, 2);
  EXPECT_EQ(plain.empty_files, 1);
  TokenFile const file(m_dir / "plain.h5");
  EXPECT_EQ(file.vocab(), 256);
  EXPECT_EQ(file.layout().token_bytes, 1);
  std::vector<std::int32_t> read(70'003);
  file.read(0, read);
  EXPECT_EQ(std::vector(read.begin(), read.begin() + 4),
            (std::vector<std::int32_t>{'a', 'b', 0xff, 'c'}));
  EXPECT_EQ(read.back(), 'c');

  tokenize_bytes(inputs, Output(m_dir / "separated.h5"), true);
  TokenFile const separated(m_dir / "separated.h5");
  EXPECT_EQ(separated.vocab(), 257);
  ASSERT_EQ(separated.count(), 70'005);
  std::vector<std::int32_t> five(5);
  separated.read(0, five);
  EXPECT_EQ(five, (std::vector<std::int32_t>{'a', 'b', 0xff, 256, 'c'}));
  auto const hdf5 = H5File::open(m_dir / "separated.h5");  // as others see it
  EXPECT_EQ(hdf5.read<std::int64_t>("/document_starts", 9), (std::vector<std::int64_t>{0, 4}));
  EXPECT_EQ(hdf5.read<std::uint16_t>("/tokens", 70'005)[3], 256);
  EXPECT_EQ(hdf5.text("/", "tokenizer"), "byte");
}

TEST_F(TokensTest, a_missing_input_leaves_no_output) {
  std::vector<fs::path> const inputs{text_file("1.txt", "ab"), m_dir / "missing.txt"};
  auto const error = error_of([&] { tokenize_bytes(inputs, Output(m_dir / "out.h5"), false); });
  EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_NE(std::string(error.what()).find("missing.txt"), std::string::npos);
  EXPECT_EQ(error_of([&] { tokenize_bytes({}, Output(m_dir / "out.h5"), false); }).status(),
            Status::bad_input);
  EXPECT_FALSE(fs::exists(m_dir / "out.h5"));
  for (auto const& entry : fs::directory_iterator(m_dir)) EXPECT_EQ(entry.path(), m_dir / "1.txt");
}

TEST_F(TokensTest, a_file_of_no_stated_size_that_has_text_is_refused_by_name) {
  fs::path const unsized_text = "/proc/self/status";
  if (!fs::exists(unsized_text)) GTEST_SKIP() << "no file here has text and the size 0";
  std::vector<fs::path> const inputs{text_file("1.txt", "ab"), unsized_text};
  auto const error = error_of([&] { tokenize_bytes(inputs, Output(m_dir / "out.h5"), false); });
  EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_EQ(error.what(),
            unsized_text.string() + ": has text, but its size is said to be 0: give a copy of it");
  EXPECT_FALSE(fs::exists(m_dir / "out.h5"));
}

TEST_F(TokensTest, a_path_that_exists_is_that_file_whatever_its_brackets_would_match) {
  std::vector<fs::path> const inputs{text_file("1.txt", "abc")};
  tokenize_bytes(inputs, Output(m_dir / "t[1].h5"), false);
  tokenize_bytes(inputs, Output(m_dir / "t2.h5"), false);
  auto const found = [&](std::string const& pattern) {
    std::vector<std::string> names;
    auto const patterns = std::vector{(m_dir / pattern).string()};
    if (!names_files(patterns)) return names;
    TokenSet const set("data.train", patterns);
    for (auto const& file : set.files()) names.push_back(file.path().filename().string());
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(found("t[1].h5"), Names{"t[1].h5"});
  EXPECT_EQ(found("t[2].h5"), Names{"t2.h5"});
  EXPECT_EQ(found("t*.h5"), (Names{"t2.h5", "t[1].h5"}));
  EXPECT_EQ(found("t[3].h5"), Names{});
}

TEST_F(TokensTest, an_unwritable_output_is_the_user_s_mistake) {
  std::vector<fs::path> const inputs{text_file("1.txt", "ab")};
  auto const error =
      error_of([&] { tokenize_bytes(inputs, Output(m_dir / "none" / "out.h5"), false); });
  EXPECT_EQ(error.status(), Status::bad_input);
}

}  // namespace
}  // namespace spillway::tokens_test
