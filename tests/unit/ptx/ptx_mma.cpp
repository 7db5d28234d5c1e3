// Tests mma.sync of every shape and type. Fragments are filled as PTX ISA says, and the result is
// compared with a sum over the matrices.
#include <random>

#include "base/bf16.hpp"
#include "base/f16.hpp"
#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx::ptx_mma_test {
namespace {

struct Entry {
  unsigned row, column;
};

// These return which entries of A, B and C element i of a lane's fragment has. group is lane / 4,
// and thread is lane % 4.
struct Shape {
  char const *name, *type;
  unsigned depth, elements_of_a, elements_of_b, per_register;
  Entry (*of_a)(unsigned group, unsigned thread, unsigned i);
  Entry (*of_b)(unsigned group, unsigned thread, unsigned i);
  std::uint32_t (*bits)(float x);
};
Entry entry_of_c(unsigned group, unsigned thread, unsigned i) {
  return {group + (i < 2 ? 0 : 8), thread * 2 + i % 2};
}

Entry a_of_16(unsigned group, unsigned thread, unsigned i) {
  bool const is_upper = i < 2 || (i >= 4 && i < 6);
  return {group + (is_upper ? 0 : 8), thread * 2 + i % 2 + (i < 4 ? 0 : 8)};
}
Entry b_of_16(unsigned group, unsigned thread, unsigned i) {
  return {thread * 2 + i % 2 + (i < 2 ? 0 : 8), group};
}
Entry a_of_tf32(unsigned group, unsigned thread, unsigned i) {
  return {group + (i % 2 == 0 ? 0 : 8), thread + (i < 2 ? 0 : 4)};
}
Entry b_of_tf32(unsigned group, unsigned thread, unsigned i) {
  return {thread + (i == 0 ? 0 : 4), group};
}
std::uint32_t bits_of_bf16(float x) {
  return to_bf16(x).bits;
}
std::uint32_t bits_of_f16(float x) {
  return to_f16(x).bits;
}
std::uint32_t bits_of_tf32(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

constexpr Shape kShapes[] = {{"m16n8k16", "bf16", 16, 8, 4, 2, a_of_16, b_of_16, bits_of_bf16},
                             {"m16n8k16", "f16", 16, 8, 4, 2, a_of_16, b_of_16, bits_of_f16},
                             {"m16n8k8", "bf16", 8, 4, 2, 2, a_of_16, b_of_16, bits_of_bf16},
                             {"m16n8k8", "f16", 8, 4, 2, 2, a_of_16, b_of_16, bits_of_f16},
                             {"m16n8k8", "tf32", 8, 4, 2, 1, a_of_tf32, b_of_tf32, bits_of_tf32},
                             {"m16n8k4", "tf32", 4, 2, 1, 1, a_of_tf32, b_of_tf32, bits_of_tf32}};

using Matrix = std::vector<std::vector<float>>;

// All elements are quarters: all types hold these exactly, and sums of their products, too.
Matrix random_matrix(unsigned rows, unsigned columns, unsigned seed) {
  std::mt19937 random(seed);
  Matrix result(rows, std::vector<float>(columns));
  for (auto& row : result)
    for (auto& x : row) x = (static_cast<float>(random() % 65) - 32) / 4;
  return result;
}

// Holds registers of all lanes; those of one lane lie side by side.
template <class EntryOf>
std::vector<std::uint32_t> fragments(Matrix const& matrix, unsigned elements, unsigned per_register,
                                     EntryOf const& entry_of, std::uint32_t (*bits)(float)) {
  std::vector<std::uint32_t> words(32 * elements / per_register);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < elements; ++i) {
      auto const [row, column] = entry_of(lane / 4, lane % 4, i);
      words[(lane * elements + i) / per_register] |= bits(matrix[row][column])
                                                     << (i % per_register * 16);
    }
  return words;
}

std::string registers(char const* name, unsigned count) {
  std::string result;
  for (unsigned i = 0; i < count; ++i)
    result += fmt::format("{}%{}{}", i == 0 ? "{" : ", ", name, i);
  return result + "}";
}
std::string loads(char const* name, unsigned count, unsigned buffer) {
  auto result =
      fmt::format("mul.wide.u32 %d0, %r31, {}; add.u64 %d0, %d0, %p{};\n", 4 * count, buffer);
  for (unsigned i = 0; i < count; ++i)
    result += fmt::format("ld.global.b32 %{}{}, [%d0+{}];\n", name, i, 4 * i);
  return result;
}

std::string text_of(Shape const& shape) {
  auto const of_a = shape.elements_of_a / shape.per_register;
  auto const of_b = shape.elements_of_b / shape.per_register;
  return kernel_text(
      4, ".reg .b32 %a<4>; .reg .b32 %b<2>; .reg .f32 %c<4>;\n" + loads("a", of_a, 1) +
             loads("b", of_b, 2) + loads("c", 4, 3) +
             fmt::format("mma.sync.aligned.{}.row.col.f32.{}.{}.f32 {}, {}, {}, {};\n", shape.name,
                         shape.type, shape.type, registers("f", 4), registers("a", of_a),
                         registers("b", of_b), registers("c", 4)) +
             "mul.wide.u32 %d0, %r31, 16; add.u64 %d0, %d0, %p0;\n"
             "st.global.v4.f32 [%d0], {%f0, %f1, %f2, %f3}; ret;");
}

void expect_product(Shape const& shape) {
  auto const a = random_matrix(16, shape.depth, 1), b = random_matrix(shape.depth, 8, 2),
             c = random_matrix(16, 8, 3);
  Memory memory;
  Buffer<float> const to(memory, "D", std::vector<float>(128), false);
  Buffer<std::uint32_t> const left(
      memory, "A", fragments(a, shape.elements_of_a, shape.per_register, shape.of_a, shape.bits));
  Buffer<std::uint32_t> const right(
      memory, "B", fragments(b, shape.elements_of_b, shape.per_register, shape.of_b, shape.bits));
  Buffer<std::uint32_t> const addend(memory, "C", fragments(c, 4, 1, entry_of_c, bits_of_tf32));
  run(text_of(shape), memory, {.block = {32}},
      {to.address(), left.address(), right.address(), addend.address()});
  for (unsigned i = 0; i < 128; ++i) {
    auto const [row, column] = entry_of_c(i / 16, i / 4 % 4, i % 4);
    auto sum = c[row][column];
    for (unsigned k = 0; k < shape.depth; ++k) sum += a[row][k] * b[k][column];
    ASSERT_EQ(to.values()[i], sum)
        << shape.name << " " << shape.type << " " << row << " " << column;
  }
}

TEST(PtxMma, every_shape_and_type) {
  for (auto const& shape : kShapes) expect_product(shape);
}

TEST(PtxMma, registers_of_the_sum_may_be_those_of_the_addend_in_another_order) {
  Memory memory;
  Buffer<float> const to(memory, "D", std::vector<float>(128), false);
  run(kernel_text(1,
                  ".reg .b32 %z; mov.b32 %z, 0; mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f3F800000;\n"
                  "mov.f32 %f2, 0f40000000; mov.f32 %f3, 0f40400000;\n"
                  "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3},\n"
                  "  {%z, %z, %z, %z}, {%z, %z}, {%f1, %f2, %f3, %f0};\n"
                  "mul.wide.u32 %d0, %r31, 16; add.u64 %d0, %d0, %p0;\n"
                  "st.global.v4.f32 [%d0], {%f0, %f1, %f2, %f3}; ret;"),
      memory, {.block = {32}}, {to.address()});
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(to.values()[i], static_cast<float>((i + 1) % 4));
}

// An unknown register of A makes a row of the result unknown, and one of B a column.
TEST(PtxMma, what_is_unknown_stays_in_its_row_or_column) {
  for (auto const& [unknown, is_known] :
       std::vector<std::pair<char const*, bool (*)(unsigned row, unsigned column)>>{
           {"a0", [](unsigned row, unsigned) { return row != 3; }},
           {"b0", [](unsigned, unsigned column) { return column != 3; }},
           {"c0", [](unsigned row, unsigned column) { return row != 3 || column != 0; }}}) {
    std::string body = ".reg .b32 %a<4>; .reg .b32 %b<2>; .reg .b32 %c<4>; .reg .b32 %u;\n";
    for (auto const* const name : {"a0", "a1", "a2", "a3", "b0", "b1", "c0", "c1", "c2", "c3"})
      body += fmt::format("mov.b32 %{}, 0;\n", name);
    body += fmt::format("setp.eq.u32 %q0, %r31, 12; @%q0 mov.b32 %{}, %u;\n", unknown) +
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3},\n"
            "  {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};\n"
            "mul.wide.u32 %d0, %r31, 16; add.u64 %d0, %d0, %p0;\n"
            "st.global.v4.f32 [%d0], {%f0, %f1, %f2, %f3}; ret;";
    Memory memory;
    std::vector<float> values(128);
    std::vector<std::uint8_t> states(512, kKnown);
    auto const address = std::bit_cast<std::uint64_t>(values.data());
    memory.add({.address = address,
                .bytes = 512,
                .host = reinterpret_cast<std::byte*>(values.data()),
                .states = states.data(),
                .name = "D"});
    EXPECT_THROW(run(kernel_text(1, body), memory, {.block = {32}}, {address}), Complaint);
    for (unsigned i = 0; i < 128; ++i) {
      auto const [row, column] = entry_of_c(i / 16, i / 4 % 4, i % 4);
      EXPECT_EQ(states[std::size_t{4} * i] == kKnown, is_known(row, column)) << unknown << " " << i;
    }
  }
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_mma_test
