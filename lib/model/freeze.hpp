// Decides which parameters of a model are frozen: those that model.freeze names or, with adapters,
// all others.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace spillway {

class Freeze {
 public:
  explicit Freeze(ModelConfig const& model) : m_model(model) {}

  // Says whether the parameters, of which one op reads all, are frozen. Throws Error(bad_input) if
  // only some are.
  bool freezes(std::vector<std::string> const& names);
  // Throws Error(bad_input) that names a pattern which no parameter so far fits, or if all of them
  // are frozen.
  void require_use() const;

 private:
  bool freezes(std::string const& name);
  std::string advice(std::string const& pattern) const;

  ModelConfig const& m_model;
  std::set<std::string> m_used;  // patterns that some parameter fits
  std::vector<std::string> m_names;
  bool m_trains = false;  // whether some parameter so far is trained
};

}  // namespace spillway
