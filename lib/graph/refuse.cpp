#include "graph/refuse.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace spillway {

void refuse_graph(std::string const& op, std::string const& tensor, std::string const& why) {
  std::string where = op.empty() ? "graph" : fmt::format("op {}", op);
  if (!tensor.empty()) where += fmt::format(", tensor {}", tensor);
  throw std::logic_error(fmt::format("{}: {}", where, why));
}

}  // namespace spillway
