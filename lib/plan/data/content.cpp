#include "plan/data/content.hpp"

#include <algorithm>

namespace spillway {

namespace {

Content content(Role role) {
  switch (role) {
    case Role::parameter:
      return Content::parameters;
    case Role::gradient:
      return Content::gradients;
    case Role::remainder:
    case Role::moment:
      return Content::optimizer;
    case Role::activation:
    case Role::edge:
      return Content::activations;
    case Role::workspace:
      return Content::scratch;
    default:
      return Content::small;
  }
}

}  // namespace

std::string_view name(Content content) {
  constexpr std::string_view names[kContents] = {"parameters",  "gradients", "optimizer state",
                                                 "activations", "scratch",   "batch and scalars"};
  return names[static_cast<std::size_t>(content)];
}

Content content(Program const& program, Buffer const& buffer) {
  return content(program.tensors[buffer.tensor].role);
}

Content moved_content(Program const& program, Item const& item) {
  auto result = Content::small;
  for (BufferId const operand : item.operands) {
    if (operand == kAbsent) continue;
    auto const one = content(program, program.buffers[operand]);
    if (one != Content::scratch) return one;
    result = one;
  }
  return result;
}

}  // namespace spillway
