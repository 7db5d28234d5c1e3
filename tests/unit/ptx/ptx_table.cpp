// Tests what holds for every instruction of the table, whatever it computes.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/unit/ptx/sentence.hpp"

namespace spillway::test::ptx::ptx_table_test {
namespace {

std::string complaint(std::string const& text) {
  static std::vector<std::byte> bytes(4096);
  constexpr std::uint64_t address = 1 << 20;
  Memory memory;
  memory.add({.address = address, .bytes = bytes.size(), .host = bytes.data(), .name = "bytes"});
  std::ranges::fill(bytes, std::byte{0});
  try {
    run(text, memory, {.block = {32}}, {address, address, address, address});
  } catch (Complaint const& complaint) {
    return complaint.what();
  }
  return "";
}

// These two instructions end a kernel with a Complaint.
bool may_run(std::string const& opcode) {
  return opcode != "trap" && opcode != "brkpt";
}

TEST(PtxTable, every_instruction_runs_on_what_is_known) {
  for (auto const& [opcode, form] : table().forms()) {
    if (!may_run(opcode)) continue;
    auto const text = Sentence(opcode, form).kernel();
    EXPECT_EQ(complaint(text), "") << opcode << "\n" << text;
  }
}

// An operand that decides a result hides that another one is unknown.
bool may_decide(std::string const& opcode) {
  for (auto const* const name : {"selp.", "and.pred", "or.pred"})
    if (opcode.starts_with(name)) return true;
  return false;
}

TEST(PtxTable, every_instruction_makes_an_unknown_result_of_an_unknown_operand) {
  std::size_t count = 0;
  for (auto const& [opcode, form] : table().forms()) {
    if (!may_run(opcode) || may_decide(opcode)) continue;
    Sentence const sentence(opcode, form);
    if (sentence.results().empty()) continue;
    for (auto const& source : sentence.sources()) {
      auto const found = complaint(sentence.kernel(source));
      EXPECT_NE(found.find("was never written"), found.npos) << opcode << " of " << source;
      ++count;
    }
  }
  EXPECT_GT(count, 3000u);
}

// Returns the words before a dot or semicolon in the sources of the other tests, which compare
// instructions with C++. Opcodes are among them.
std::set<std::string> words_of_tests() {
  std::set<std::string> result;
  for (auto const& file :
       std::filesystem::directory_iterator(SPILLWAY_SOURCE_DIR "/tests/unit/ptx")) {
    if (file.path().extension() != ".cpp" || file.path().stem() == "ptx_table") continue;
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    std::string word;
    for (char const c : text.str()) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        word += c;
      } else {
        if (c == '.' || c == ';') result.insert(word);
        word.clear();
      }
    }
  }
  return result;
}

TEST(PtxTable, every_opcode_stands_in_another_test) {
  auto const words = words_of_tests();
  for (auto const& [opcode, form] : table().forms()) {
    auto const name = opcode.substr(0, opcode.find('.'));
    EXPECT_TRUE(words.contains(name)) << opcode;
  }
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_table_test
