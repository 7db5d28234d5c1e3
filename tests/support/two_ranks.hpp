// TwoRanks is a communicator of two ranks. There is no other process: a function of the test says
// what the other rank sends.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "comm/comm.hpp"

namespace spillway::test {

class TwoRanks final : public Comm {
 public:
  // An Answer gets the bytes that this rank sends in an exchange and replaces them by those that
  // the other rank sends.
  using Answer = std::function<void(std::span<std::byte> said)>;
  enum class On { one_node, two_nodes };

  TwoRanks(int rank, On nodes, Answer answer)
      : Comm(nodes == On::one_node ? Topology{rank, 2, rank, 2, 0} : Topology{rank, 2, 0, 1, rank}),
        m_answer(std::move(answer)) {}

  [[noreturn]] void abort(int status) override { std::_Exit(status); }

 private:
  void exchange(Traffic, std::span<Outgoing const> outgoing,
                std::span<Incoming const> incoming) override {
    ASSERT_EQ(outgoing.size(), 1u);
    ASSERT_EQ(incoming.size(), 1u);
    ASSERT_EQ(outgoing[0].to, 1 - rank());
    ASSERT_EQ(incoming[0].from, 1 - rank());
    auto const said = incoming[0].bytes;
    ASSERT_EQ(said.size(), outgoing[0].bytes.size());
    std::ranges::copy(outgoing[0].bytes, said.begin());
    m_answer(said);
  }

  Answer m_answer;
};

// If `said` has the size of a T, replaces the T in it by changed(T).
template <class T, class Changed>
void change(std::span<std::byte> said, Changed const& changed) {
  if (said.size() != sizeof(T)) return;
  T value;
  std::memcpy(&value, said.data(), sizeof value);
  value = changed(value);
  std::memcpy(said.data(), &value, sizeof value);
}

}  // namespace spillway::test
