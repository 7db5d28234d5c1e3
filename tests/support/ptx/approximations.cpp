// Implements the opcodes that GPUs approximate. NVIDIA promises a few units in the last place; the
// results here are correctly rounded, except that computing in double rounds twice in rare cases.
#include <cmath>

#include "tests/support/ptx/float_lanes.hpp"

namespace spillway::test::ptx {
namespace {

template <double (*f)(double)>
float rounded(float a) {
  return static_cast<float>(f(a));
}

double two_to(double a) {
  return std::exp2(a);
}
double logarithm(double a) {
  return std::log2(a);
}
double reciprocal(double a) {
  return 1 / a;
}
double root(double a) {
  return std::sqrt(a);
}
double reciprocal_root(double a) {
  return 1 / std::sqrt(a);
}
double tangent(double a) {
  return std::tanh(a);
}
double sine(double a) {
  return std::sin(a);
}
double cosine(double a) {
  return std::cos(a);
}

float quotient(float a, float b) {
  return a / b;
}
// GPUs multiply with the reciprocal, which is zero for divisors beyond 2^126.
float product_with_reciprocal(float a, float b) {
  bool const is_huge = std::fabs(b) > 0x1p126f && !std::isinf(b);
  return is_huge ? a * std::copysign(0.0f, b) : a / b;
}

template <auto f>
void add(Table& table, std::string const& opcode) {
  add_forms(table, form_of<f>(opcode, ".f32"));
}

}  // namespace

void add_approximations(Table& table) {
  add<rounded<two_to>>(table, "ex2.approx");
  add<rounded<logarithm>>(table, "lg2.approx");
  add<rounded<reciprocal>>(table, "rcp.approx");
  add<rounded<root>>(table, "sqrt.approx");
  add<rounded<reciprocal_root>>(table, "rsqrt.approx");
  add<rounded<sine>>(table, "sin.approx");
  add<rounded<cosine>>(table, "cos.approx");
  add<quotient>(table, "div.full");
  add<product_with_reciprocal>(table, "div.approx");
  table.add("tanh.approx.f32", "4=4", arithmetic<rounded<tangent>>);
}

}  // namespace spillway::test::ptx
