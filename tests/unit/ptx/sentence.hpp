// Writes a kernel around any instruction of the table.
#pragma once

#include "tests/support/ptx/table.hpp"
#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx {

struct Written {
  std::string operand;
  std::vector<std::string> registers;  // names those in the operand
};

// Each lane has 32 bytes of its own wherever it may touch memory, and registers are named after
// their width in bytes: %x4_0.
class Sentence {
 public:
  Sentence(std::string const& opcode, Form const& form) : m_operation(form.operation) {
    auto letters = form.operands.substr(0, form.operands.find(' '));
    auto const equals = letters.find('=');
    bool is_result = equals != letters.npos;
    std::vector<std::string> operands;
    for (char const letter : letters) {
      if (letter == '=') is_result = false;
      if (letter == '=' || letter == 'q') continue;
      auto const written = write(letter, is_result, letters);
      operands.push_back(written.operand);
      auto& into = is_result ? m_results : m_sources;
      into.insert(into.end(), written.registers.begin(), written.registers.end());
    }
    m_text = without_part(opcode) + " " + joined(operands);
  }

  std::vector<std::string> const& results() const { return m_results; }
  std::vector<std::string> const& sources() const { return m_sources; }

  // Returns a kernel that sets all sources but one, runs the instruction and stores the results.
  std::string kernel(std::string const& but = "") const {
    std::string body = kMemory;
    for (auto const& source : m_sources)
      if (source != but) body += set(source);
    body += "add.cc.u32 %r20, 1, 1;\n" + m_text + ";\n";
    for (auto const& result : m_results) body += store(result);
    return kernel_text(4, body + "END: ret;", kVariables);
  }

 private:
  static constexpr std::size_t kResultsOfProduct = 4;
  static constexpr char const* kVariables =
      ".const .align 32 .b8 numbers[1024];\n.shared .align 32 .b8 tile[1024];\n";
  static constexpr char const* kMemory =
      ".reg .pred %xp_<16>; .reg .b16 %x2_<16>; .reg .b32 %x4_<32>; .reg .b64 %x8_<16>;\n"
      ".local .align 32 .b8 depot[32];\n"
      "shl.b64 %d0, %d31, 3; mov.u64 %d1, tile; add.u64 %d1, %d1, %d0; mov.u64 %d2, depot;\n"
      "mov.u64 %d3, numbers; add.u64 %d3, %d3, %d0; add.u64 %d4, %p0, %d0;\n"
      "add.u64 %d5, %d4, 1024; mov.u64 %d6, 0; mov.b64 %d7, k_0;\n"
      "st.shared.v2.b64 [%d1], {%d6, %d6}; st.shared.v2.b64 [%d1+16], {%d6, %d6};\n"
      "st.local.v2.b64 [%d2], {%d6, %d6}; st.local.v2.b64 [%d2+16], {%d6, %d6};\n";

  // The table alone has names such as `mov.pack4.b64`; PTX has no pack4.
  static std::string without_part(std::string const& opcode) {
    auto const at = opcode.find("pack");
    if (at == opcode.npos) return opcode;
    return opcode.substr(0, opcode.find('.')) + opcode.substr(opcode.find('.', at));
  }
  static std::string joined(std::vector<std::string> const& parts) {
    std::string result;
    for (auto const& part : parts) result += (result.empty() ? "" : ", ") + part;
    return result;
  }

  std::string next_register(std::string const& width) {
    return fmt::format("%x{}_{}", width, m_registers++ % 16);
  }
  Written one(std::string const& width) {
    auto const name = next_register(width);
    return {name, {name}};
  }
  Written list(std::size_t count, unsigned bytes) {
    Written result;
    for (std::size_t i = 0; i < count; ++i)
      result.registers.push_back(next_register(std::to_string(bytes)));
    result.operand = "{" + joined(result.registers) + "}";
    return result;
  }

  // In a product, the first list is the result, and the last one has the registers that are left.
  std::size_t elements(std::string const& letters) {
    auto const lists = static_cast<std::size_t>(std::ranges::count(letters, 'h'));
    auto const list = m_lists++;
    if (lists == 1) return m_operation.elements;
    if (list == 0) return kResultsOfProduct;
    return list + 1 < lists ? 1 : m_operation.elements - kResultsOfProduct - (lists - 2);
  }

  Written write(char letter, bool is_result, std::string const& letters) {
    auto const least = [](unsigned bytes) { return std::max(2u, bytes); };
    switch (letter) {
      case 'w': {
        auto const type = is_result ? m_operation.to_type : m_operation.type;
        return one(std::to_string(least(facts(type).bytes)));
      }
      case 'v':
        return list(m_operation.elements, least(m_operation.bytes));
      case 'h':
        return list(elements(letters), least(m_operation.bytes));
      case 'm':
        return {"[" + address() + "]", {}};
      case 'c':
        return {"%d6", {}};
      case 'z':
        return {"4", {}};
      case 'k':
        return {"-1", {}};
      case 'i':
        return {m_operation.mode == 16 ? "16" : "4", {}};
      case 'l':
        return {"END", {}};
      default:
        return one(std::string(1, letter));
    }
  }
  // The second address of a copy is that of its source.
  std::string address() {
    if (m_addresses++ > 0) return "%d4";
    switch (m_operation.space) {
      case Space::shared:
        return "%d1";
      case Space::local:
        return "%d2";
      case Space::constant:
        return "%d3";
      case Space::param:
        return "%d7";
      default:
        return "%d4";
    }
  }

  // Numbers are small, because some are numbers of barriers, lanes and threads.
  static std::string set(std::string const& name) {
    if (name[2] == 'p') return fmt::format("setp.eq.u32 {}, %r31, %r31;\n", name);
    return fmt::format("mov.b{} {}, 0;\n", (name[2] - '0') * 8, name);
  }
  static std::string store(std::string const& name) {
    if (name[2] == 'p')
      return fmt::format("selp.u32 %r0, 1, 0, {}; st.global.u32 [%d5], %r0;\n", name);
    return fmt::format("st.global.b{} [%d5], {};\n", (name[2] - '0') * 8, name);
  }

  Operation const& m_operation;
  std::string m_text;
  std::vector<std::string> m_results, m_sources;
  unsigned m_registers = 0;
  std::size_t m_lists = 0, m_addresses = 0;
};

}  // namespace spillway::test::ptx
