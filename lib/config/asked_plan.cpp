#include "config/asked_plan.hpp"

namespace spillway {

namespace {

std::string to_text(Tier tier) {
  return std::string(name(tier));
}
std::string to_text(Shard shard) {
  return std::string(word(shard));
}

template <class T>
std::vector<std::string> texts_of(Asked<T> const& asked) {
  std::vector<std::string> texts;
  for (auto const& entry : asked) texts.push_back(entry ? to_text(*entry) : std::string(kAuto));
  return texts;
}

}  // namespace

std::vector<std::string> texts(Asked<BlockPlan> const& asked) {
  return texts_of(asked);
}
std::vector<std::string> texts(Asked<Tier> const& asked) {
  return texts_of(asked);
}
std::vector<std::string> texts(Asked<Shard> const& asked) {
  return texts_of(asked);
}

}  // namespace spillway
