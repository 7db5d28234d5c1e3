// Makes modules of a few lines for tests of the interpreter, and memory that their kernels may use.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/support/ptx/globals.hpp"
#include "tests/support/ptx/launch.hpp"
#include "tests/support/ptx/parse.hpp"
#include "tests/support/ptx/refused.hpp"

namespace spillway::test::ptx {

inline constexpr char const* kHead = ".version 8.5\n.target sm_90\n.address_size 64\n";

// Writes a kernel `k` with this body, whose parameters are so many addresses. The body finds them
// in %p0, %p1 and so on. It has registers from 0 to 31: %r, %f, %h (16 bits), %d (64 bits) and %q
// (predicates). %r31 is the thread's number in the launch, %d31 four times that.
inline std::string kernel_text(unsigned buffers, std::string const& body,
                               std::string const& variables = "") {
  std::string text = kHead + variables + ".visible .entry k(";
  for (unsigned i = 0; i < buffers; ++i)
    text += fmt::format("{}.param .u64 k_{}", i == 0 ? "" : ", ", i);
  text +=
      ")\n{\n.reg .b32 %r<32>; .reg .f32 %f<32>; .reg .b16 %h<32>; .reg .b64 %d<32>;\n"
      ".reg .b64 %p<8>; .reg .pred %q<8>;\n";
  for (unsigned i = 0; i < buffers; ++i) text += fmt::format("ld.param.u64 %p{}, [k_{}];\n", i, i);
  text +=
      "mov.u32 %r29, %ctaid.x; mov.u32 %r30, %ntid.x; mov.u32 %r31, %tid.x;\n"
      "mad.lo.s32 %r31, %r29, %r30, %r31; mul.wide.u32 %d31, %r31, 4;\n";
  return text + body + "\n}\n";
}

// Holds device memory, whose addresses are those of the process.
template <class T>
class Buffer {
 public:
  Buffer(Memory& memory, std::string const& name, std::vector<T> values, bool known = true)
      : m_memory(memory),
        m_values(std::move(values)),
        m_states(m_values.size() * sizeof(T), known ? kKnown : kUnknown) {
    memory.add({.address = address(),
                .bytes = m_states.size(),
                .host = reinterpret_cast<std::byte*>(m_values.data()),
                .states = m_states.data(),
                .name = name});
  }
  Buffer(Buffer const&) = delete;
  Buffer& operator=(Buffer const&) = delete;
  ~Buffer() { m_memory.remove(address()); }

  std::uint64_t address() const { return std::bit_cast<std::uint64_t>(m_values.data()); }
  std::vector<T> const& values() const { return m_values; }
  bool all_known() const {
    return std::ranges::all_of(m_states, [](auto state) { return state == kKnown; });
  }

 private:
  Memory& m_memory;
  std::vector<T> m_values;
  std::vector<std::uint8_t> m_states;
};

// Runs a module's kernel `k`.
inline LaunchCounts run(std::string const& text, Memory& memory, LaunchSettings settings,
                        std::vector<std::uint64_t> const& parameters) {
  auto const module = parse(text);
  Globals const globals(module, memory);
  auto const code = decode(module, "k", [&](auto const& name) { return globals.address_of(name); });
  settings.parameters = std::as_bytes(std::span(parameters));
  return launch(code, memory, settings);
}

// Returns the text of the Complaint to which a kernel on one buffer of words leads, or "".
inline std::string complaint_of(std::string const& text, LaunchSettings const& settings,
                                std::size_t words = 256, bool known = true) {
  Memory memory;
  Buffer<std::uint32_t> const buffer(memory, "words", std::vector<std::uint32_t>(words), known);
  try {
    run(text, memory, settings, {buffer.address()});
  } catch (Complaint const& complaint) {
    return complaint.what();
  }
  return "";
}

inline std::string refusal_of(std::string const& text) {
  try {
    auto const module = parse(text);
    decode(module, "k", [](auto const&) { return std::uint64_t{0}; });
  } catch (Refused const& refused) {
    return refused.what();
  }
  return "";
}

inline constexpr std::uint64_t kSeeds = 10;

}  // namespace spillway::test::ptx
