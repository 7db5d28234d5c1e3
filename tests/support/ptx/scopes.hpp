// Names of registers and labels are known from their braces on to the end of these.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/ptx/module.hpp"

namespace spillway::test::ptx {

class Scopes {
 public:
  // The kernel gets the registers, and its branches their targets.
  explicit Scopes(Kernel& kernel) : m_kernel(kernel) {}

  void open() { m_scopes.emplace_back(); }
  void close();  // throws Refused if a label of a branch is none of the kernel's

  void add_register(std::string const& name, Type type);
  void add_label(std::string const& name, int line);  // of the next instruction
  void add_branch();                                  // the next instruction is one

  int find_register(std::string const& name) const;  // -1 if there is none

 private:
  struct Scope {
    std::map<std::string, int> registers, labels;
    std::vector<std::size_t> branches;  // whose labels are not found yet
  };

  Kernel& m_kernel;
  std::vector<Scope> m_scopes;
};

}  // namespace spillway::test::ptx
