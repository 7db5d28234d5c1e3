// Finds the form of each instruction and fills in its slots.
#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>

#include "tests/support/ptx/code.hpp"
#include "tests/support/ptx/frame.hpp"
#include "tests/support/ptx/refused.hpp"
#include "tests/support/ptx/table.hpp"

namespace spillway::test::ptx {
namespace {

std::size_t count_of_operands(std::string_view letters) {
  std::size_t result = 0;
  for (char const c : letters)
    if (c != '=' && c != 'q') ++result;
  return result;
}

// Of alternatives behind blanks, the one with so many operands.
std::optional<std::string_view> pick(std::string_view alternatives, std::size_t count) {
  while (true) {
    auto const blank = std::min(alternatives.find(' '), alternatives.size());
    auto const letters = alternatives.substr(0, blank);
    if (count_of_operands(letters) == count) return letters;
    if (blank == alternatives.size()) return {};
    alternatives.remove_prefix(blank + 1);
  }
}

std::uint64_t bits_for(Operand const& operand, unsigned bytes, int line) {
  if (operand.literal == Type::f32 && bytes == 8)
    return std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))));
  if (operand.literal == Type::f64 && bytes < 8) refuse(line, "a double is too wide here");
  return operand.bits;
}

// A mov with braces is of another form: `mov.unpack2.b32 {a, b}, c` has parts of 2 bytes.
Instruction with_vector_named(Instruction const& instruction) {
  auto result = instruction;
  for (auto const& operand : result.operands) {
    if (result.opcode[0] != "mov" || operand.form != Operand::Form::list) continue;
    auto const bytes = facts(type_named(result.opcode.back())).bytes / operand.list.size();
    auto const* const way = &operand == &result.operands[0] ? "unpack" : "pack";
    result.opcode.insert(result.opcode.begin() + 1, way + std::to_string(bytes));
    break;
  }
  return result;
}

class Decoder {
 public:
  Decoder(Frame& frame, Instruction const& instruction, Form const& form)
      : m_frame(frame), m_instruction(instruction), m_result(form.operation) {}

  Operation operation(std::string_view alternatives) {
    auto const& operands = m_instruction.operands;
    auto const picked = pick(alternatives, operands.size());
    if (!picked) fail("{} operands are not offered", operands.size());
    auto const letters = *picked;
    m_is_result = letters.find('=') != letters.npos;
    std::size_t next = 0;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (letters[i] == 'q') continue;
      if (letters[i] == '=') {
        m_is_result = false;
        continue;
      }
      bool const has_second = i + 1 < letters.size() && letters[i + 1] == 'q';
      has_second ? add_pair(letters[i], operands[next]) : add(letters[i], operands[next]);
      ++next;
    }
    add_guard();
    return std::move(m_result);
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> why, Args&&... args) const {
    refuse(m_instruction.line, "{} (in '{}')", fmt::format(why, std::forward<Args>(args)...),
           m_instruction.text);
  }

  void add_guard() {
    m_result.target = m_instruction.target;
    if (m_instruction.guard < 0) return;
    auto const guard = m_frame.of_register(m_instruction.guard);
    if (guard.bytes != 0) fail("what guards an instruction is a predicate");
    m_result.guard = guard.slot;
    m_result.guard_is_negated = m_instruction.guard_is_negated;
  }

  void add_pair(char letter, Operand const& operand) {
    if (operand.form != Operand::Form::list) return add(letter, operand);
    add(letter, operand.list[0]);
    m_result.to2 = slot(operand.list[1], 0);
  }

  void add(char letter, Operand const& operand) {
    switch (letter) {
      case '2':
      case '4':
      case '8':
        return add_slot(slot(operand, static_cast<unsigned>(letter - '0')));
      case 'p':
        return add_slot(slot(operand, 0), operand.is_negated);
      case 'w':
        return add_wide(operand);
      case 'v':
      case 'h':
        return add_list(operand, letter == 'v');
      case 'm':
        return add_address(operand);
      case 'k':
        m_result.members = slot(operand, 4);
        return;
      case 'i':
        return add_immediate(operand);
      case 'l':
        return;
      default:
        throw std::logic_error("a form has an unknown letter");
    }
  }

  void add_slot(Slot slot, bool is_negated = false) {
    if (m_is_result) {
      m_result.to = slot;
      return;
    }
    if (is_negated) m_result.negated |= static_cast<std::uint8_t>(1u << m_sources);
    m_result.from[m_sources++] = slot;
  }

  void add_wide(Operand const& operand) {
    auto const type = m_is_result ? m_result.to_type : m_result.type;
    auto const least = std::max(2u, facts(type).bytes);
    auto const [place, bytes] = wide_slot(operand, least);
    (m_is_result ? m_result.to_bytes : m_result.register_bytes) = static_cast<std::uint8_t>(bytes);
    add_slot(place);
  }

  void add_list(Operand const& operand, bool may_be_wider) {
    auto const is_list = operand.form == Operand::Form::list;
    auto const parts = is_list ? operand.list : std::vector{operand};
    for (auto const& part : parts) {
      auto const least = std::max(2u, unsigned{m_result.bytes});
      if (!may_be_wider) {
        m_result.list.push_back(slot(part, least));
        continue;
      }
      auto const [place, bytes] = wide_slot(part, least);
      m_result.list.push_back(place);
      bool const sets = part.form == Operand::Form::reg || m_result.register_bytes == 0;
      if (sets) m_result.register_bytes = static_cast<std::uint8_t>(bytes);
    }
    for (auto const& part : parts)
      if (may_be_wider && part.form == Operand::Form::reg &&
          m_frame.of_register(part.reg).bytes != m_result.register_bytes)
        fail("registers of a list have several widths");
    bool const is_wider = m_result.register_bytes > std::max(2u, unsigned{m_result.bytes});
    for (auto const& part : parts)
      if (may_be_wider && is_wider && part.form != Operand::Form::reg && !m_is_result)
        fail("a number stands among wider registers");
  }

  void add_address(Operand const& operand) {
    if (operand.form != Operand::Form::address) fail("an address in brackets is expected");
    Slot base = kZeros;
    auto offset = operand.offset;
    unsigned bytes = 8;
    if (operand.reg >= 0) {
      auto const found = m_frame.of_register(operand.reg);
      if (found.bytes != 4 && found.bytes != 8) fail("an address has 4 or 8 bytes");
      base = found.slot;
      bytes = found.bytes;
    } else if (!operand.name.empty()) {
      offset += static_cast<std::int64_t>(m_frame.address(operand.name, m_instruction.line));
    }
    if (m_addresses++ == 0) {
      m_result.address = base;
      m_result.offset = offset;
      m_result.address_bytes = static_cast<std::uint8_t>(bytes);
    } else {
      if (bytes != 8) fail("the address of a copy's source has 8 bytes");
      m_result.address2 = base;
      m_result.offset2 = offset;
    }
  }

  void add_immediate(Operand const& operand) {
    if (operand.form != Operand::Form::number) fail("a number is expected");
    m_result.immediate = static_cast<std::int64_t>(operand.bits);
  }

  // The slot of a register of just this width (0: a predicate), or of a constant of it.
  Slot slot(Operand const& operand, unsigned bytes) {
    if (operand.form == Operand::Form::sink) return m_is_result ? kSink : kZeros;
    if (operand.form == Operand::Form::number && !m_is_result)
      return m_frame.constant(bits_for(operand, bytes, m_instruction.line), bytes);
    if (operand.form == Operand::Form::symbol && operand.name == "WARP_SZ")
      return m_frame.constant(kLanes, bytes);
    if (operand.form == Operand::Form::symbol && bytes >= 4 && !m_is_result)
      return m_frame.constant(address_of(operand), bytes);
    auto const found = place_of(operand);
    if (found.bytes != bytes)
      fail("an operand has {} bytes and should have {}", found.bytes, bytes);
    return found.slot;
  }

  SlotOf wide_slot(Operand const& operand, unsigned least) {
    if (operand.form == Operand::Form::number || operand.form == Operand::Form::sink ||
        operand.form == Operand::Form::symbol)
      return {slot(operand, least), least};
    auto const found = place_of(operand);
    if (found.bytes < least) fail("an operand has {} bytes and needs {}", found.bytes, least);
    return found;
  }

  SlotOf place_of(Operand const& operand) {
    if (operand.form == Operand::Form::reg && operand.offset == 0)
      return m_frame.of_register(operand.reg);
    if (operand.form == Operand::Form::special && !m_is_result)
      return m_frame.special(operand.name, m_instruction.line);
    fail("an operand is none of those that are offered");
  }

  std::uint64_t address_of(Operand const& operand) const {
    return m_frame.address(operand.name, m_instruction.line) +
           static_cast<std::uint64_t>(operand.offset);
  }

  Frame& m_frame;
  Instruction const& m_instruction;
  Operation m_result;
  bool m_is_result = false;
  std::size_t m_sources = 0, m_addresses = 0;
};

}  // namespace

Code decode(Module const& module, std::string const& kernel, AddressOf const& address_of) {
  auto const found = module.kernels.find(kernel);
  if (found == module.kernels.end()) throw Refused("no kernel is called " + kernel);
  Code code{.kernel = &found->second};
  Frame frame(module, found->second, address_of, code);
  for (auto const& instruction : found->second.instructions) {
    auto const& form = table().find(with_vector_named(instruction));
    code.operations.push_back(Decoder(frame, instruction, form).operation(form.operands));
  }
  code.operations.push_back({.flow = Flow::beyond_end});
  return code;
}

}  // namespace spillway::test::ptx
