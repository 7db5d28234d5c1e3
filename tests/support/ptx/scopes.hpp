// Scopes know the names of registers and labels, which hold from their declaration to the end of
// the braces around it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/ptx/module.hpp"

namespace spillway::test::ptx {

class Scopes {
 public:
  // Adds registers to the kernel, and sets the targets of its branches. The kernel must live
  // longer.
  explicit Scopes(Kernel& kernel) : m_kernel(kernel) {}

  void open() { m_scopes.emplace_back(); }
  void close();  // throws Refused if a branch of the kernel has a label that is nowhere

  void add_register(std::string const& name, Type type);
  void add_label(std::string const& name, int line);  // labels the next instruction
  void add_branch();                                  // says that the next instruction branches

  int find_register(std::string const& name) const;  // returns -1 if there is none

 private:
  struct Scope {
    std::map<std::string, int> registers, labels;
    std::vector<std::size_t> branches;  // names those whose labels are not found yet
  };

  Kernel& m_kernel;
  std::vector<Scope> m_scopes;
};

}  // namespace spillway::test::ptx
