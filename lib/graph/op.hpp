// One operation on views. An Op says what is computed, never where or when.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/tensor.hpp"

namespace spillway {

enum class OpKind : std::uint8_t {
#define SPILLWAY_OP(name, rule) name,
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
};

enum class Phase : std::uint8_t { forward, backward, update };

// Constant attributes of an op by name. Numbers only: integers are exact up to 2^53.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string const, double>> values)
      : m_values(values) {}

  double at(std::string const& name) const { return m_values.at(name); }
  double get(std::string const& name, double fallback) const {
    auto const found = m_values.find(name);
    return found == m_values.end() ? fallback : found->second;
  }
  std::int64_t integer(std::string const& name) const {
    return static_cast<std::int64_t>(at(name));
  }
  bool flag(std::string const& name) const { return get(name, 0) != 0; }
  void set(std::string const& name, double value) { m_values[name] = value; }
  auto const& values() const { return m_values; }

 private:
  std::map<std::string, double> m_values;
};

struct Op {
  int id = -1;
  int origin = -1;  // the forward op it came from; its own id for a forward op
  OpKind kind{};
  Phase phase = Phase::forward;
  int block = -1;
  int chunk = -1;    // for ops on whole chunks
  std::string name;  // as in "h.3/ln_1"
  std::vector<View> inputs, outputs;
  std::vector<int> in_place;  // outputs that are read as well: indices into `outputs`
  Attributes attributes;
  double flops = 0;
  std::int64_t workspace_bytes = 0;  // asked of the kernel by `size_workspaces`
  bool elided = false;  // a forward op whose work its backward op does too (lm_head_loss)
};

std::string_view name(OpKind kind);

// Bytes read and written, counted once per view.
std::int64_t traffic_bytes(Op const& op, std::vector<Tensor> const& tensors);
// Ops with equal keys take equal time: kind, shapes, dtypes, attributes.
std::string cost_key(Op const& op, std::vector<Tensor> const& tensors);

}  // namespace spillway
