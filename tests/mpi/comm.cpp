#include "comm/comm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "comm/backoff.hpp"
#include "comm/gathered_texts.hpp"
#include "comm/mpi_comm.hpp"
#include "comm/mpi_scope.hpp"
#include "comm/signs_of_life.hpp"

namespace spillway {
namespace {

Comm* g_comm = nullptr;
constexpr std::byte kUntouched{0xee};

// A byte that tells sender, receiver and place.
std::byte mark(int from, int to, std::size_t i) {
  return static_cast<std::byte>(31 * from + 7 * to + static_cast<int>(i % 251));
}

// Slices of unequal lengths; rank 1 has none.
std::vector<ByteSlice> uneven_slices(int ranks, std::int64_t unit) {
  std::vector<ByteSlice> slices;
  std::int64_t first = 3;
  for (int r = 0; r < ranks; ++r) {
    slices.push_back({first, r == 1 ? 0 : unit + 5 * r});
    first += slices.back().bytes;
  }
  return slices;
}

void expect_all_to_all(std::int64_t unit) {
  auto const slices = uneven_slices(g_comm->size(), unit);
  auto const me = g_comm->rank();
  std::vector<std::byte> send(static_cast<std::size_t>(slices.back().first + slices.back().bytes));
  for (int to = 0; to < g_comm->size(); ++to) {
    auto const [first, bytes] = slices[static_cast<std::size_t>(to)];
    for (std::size_t i = 0; i < static_cast<std::size_t>(bytes); ++i) {
      send[static_cast<std::size_t>(first) + i] = mark(me, to, i);
    }
  }
  auto const length = static_cast<std::size_t>(slices[static_cast<std::size_t>(me)].bytes);
  auto const stride = length + 24;
  std::vector<std::byte> parts(stride * static_cast<std::size_t>(g_comm->size()), kUntouched);
  g_comm->all_to_all(send, parts, slices);
  std::size_t wrong = 0;
  for (int from = 0; from < g_comm->size(); ++from) {
    for (std::size_t i = 0; i < length; ++i) {
      auto const expected = from == me ? kUntouched : mark(from, me, i);
      wrong += parts[static_cast<std::size_t>(from) * stride + i] != expected;
    }
    wrong += parts[static_cast<std::size_t>(from) * stride + length] != kUntouched;
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(GatheredTexts, have_lengths_of_their_own) {
  auto const text_of = [](int rank) {
    return std::string(static_cast<std::size_t>(3 * rank), 'x');
  };
  auto const texts = gathered_texts(*g_comm, text_of(g_comm->rank()));
  ASSERT_EQ(static_cast<int>(texts.size()), g_comm->size());
  for (int rank = 0; rank < g_comm->size(); ++rank)
    EXPECT_EQ(texts[static_cast<std::size_t>(rank)], text_of(rank));
  EXPECT_EQ(gathered_texts(*g_comm, ""), std::vector<std::string>(texts.size()));
}

TEST(Comm, all_to_all_gives_every_rank_its_slice_of_every_rank) {
  expect_all_to_all(1000);
}

TEST(Comm, messages_longer_than_one_piece_arrive_whole) {
  expect_all_to_all((std::int64_t{33} << 20) + 1);
}

// Rank 1 is sent nothing: that its own messages arrive late is no wait for anybody.
TEST(Comm, counts_waits_for_peers_whose_messages_were_to_come) {
  g_comm->forget_waits();
  expect_all_to_all(std::int64_t{1} << 20);
  auto const waited_s = g_comm->waited_s();
  ASSERT_EQ(std::ssize(waited_s), g_comm->size());
  EXPECT_EQ(waited_s[static_cast<std::size_t>(g_comm->rank())], 0);
  auto const all_s = std::accumulate(waited_s.begin(), waited_s.end(), 0.0);
  EXPECT_EQ(all_s > 0, g_comm->rank() != 1);
  g_comm->forget_waits();
  EXPECT_EQ(std::ranges::count(g_comm->waited_s(), 0), g_comm->size());
}

TEST(Comm, all_gather_places_slices_in_rank_order_and_touches_nothing_else) {
  auto const slices = uneven_slices(g_comm->size(), 77);
  auto const end = static_cast<std::size_t>(slices.back().first + slices.back().bytes);
  auto const me = static_cast<std::size_t>(g_comm->rank());
  std::vector<std::byte> whole(end + 4, kUntouched);
  std::fill_n(whole.begin() + slices[me].first, slices[me].bytes, static_cast<std::byte>(me + 1));
  g_comm->all_gather(whole, slices);
  std::vector<std::byte> expected(end + 4, kUntouched);
  for (std::size_t r = 0; r < slices.size(); ++r) {
    std::fill_n(expected.begin() + slices[r].first, slices[r].bytes, static_cast<std::byte>(r + 1));
  }
  EXPECT_EQ(whole, expected);
}

// Neighbours make pairs, then ranks that are two apart do. A rank without a partner is alone.
TEST(Comm, all_gather_within_a_group_reaches_nobody_else) {
  constexpr std::int64_t bytes = 5;
  std::int64_t const size = g_comm->size(), me = g_comm->rank();
  for (std::int64_t const step : {1, 2}) {
    auto const first = me / (2 * step) * 2 * step + me % step;
    RankRange const group{first, first + step < size ? 2 : 1, step};
    std::vector<ByteSlice> slices;
    std::vector<std::byte> expected;
    for (std::int64_t n = 0; n < group.count; ++n) {
      slices.push_back({n * bytes, bytes});
      expected.insert(expected.end(), bytes, static_cast<std::byte>(group.rank(n) + 1));
    }
    std::vector<std::byte> whole(expected.size(), kUntouched);
    auto const own = (me - first) / step * bytes;
    std::fill_n(whole.begin() + own, bytes, static_cast<std::byte>(me + 1));
    g_comm->all_gather(whole, slices, group);
    EXPECT_EQ(whole, expected) << step;
  }
  std::vector<ByteSlice> const none(2);
  for (RankRange const& others : {RankRange{me + 1, 2, 1}, {me - 2, 2, 1}, {me - 1, 2, 2}})
    EXPECT_THROW(g_comm->all_gather({}, none, others), std::logic_error);
}

TEST(Comm, all_gather_bytes_gives_every_rank_every_block_once) {
  auto const me = static_cast<std::size_t>(g_comm->rank()),
             size = static_cast<std::size_t>(g_comm->size());
  for (std::size_t const bytes : {1u, 7u, 100'000u}) {
    std::vector<std::byte> one(bytes), all(bytes * size, kUntouched), expected;
    for (std::size_t i = 0; i < bytes; ++i) one[i] = mark(g_comm->rank(), 0, i);
    for (std::size_t r = 0; r < size; ++r)
      for (std::size_t i = 0; i < bytes; ++i) expected.push_back(mark(static_cast<int>(r), 0, i));
    g_comm->all_gather_bytes(one, all);
    EXPECT_EQ(all, expected);
    std::vector<std::byte> in_place(bytes * size);
    std::ranges::copy(one, in_place.begin() + static_cast<std::ptrdiff_t>(me * bytes));
    g_comm->all_gather_bytes(std::span(in_place).subspan(me * bytes, bytes), in_place);
    EXPECT_EQ(in_place, expected);
  }
}

TEST(Comm, agree_is_the_largest_word_on_every_rank) {
  EXPECT_EQ(g_comm->agree(g_comm->rank() * 10), (g_comm->size() - 1) * 10);
  EXPECT_EQ(g_comm->agree(-5 - g_comm->rank()), -5);
}

// The first rank swaps with the last one, and others take no part.
TEST(Comm, two_ranks_swap_while_others_do_not) {
  auto const me = g_comm->rank(), last = g_comm->size() - 1;
  if (me != 0 && me != last) return;
  auto const peer = last - me;
  std::vector<std::byte> sent(1001), received(1003, kUntouched), expected(1003, kUntouched);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = mark(me, peer, i);
  for (std::size_t i = 0; i < sent.size(); ++i) expected[i + 1] = mark(peer, me, i);
  g_comm->swap(peer, sent, std::span(received).subspan(1, sent.size()));
  EXPECT_EQ(received, expected);
}

// Of data alone: the last word of an agreement may have waited for another rank's.
TEST(Comm, counts_the_wait_for_the_peer_whose_message_it_waited_for) {
  auto const me = g_comm->rank(), last = g_comm->size() - 1;
  g_comm->forget_waits();
  g_comm->agree(0);
  EXPECT_EQ(std::ranges::count(g_comm->waited_s(), 0), g_comm->size());
  if (me != 0 && me != last) return;
  std::vector<std::byte> const sent(1000);
  std::vector<std::byte> received(1000);
  g_comm->swap(last - me, sent, received);
  auto const waited_s = g_comm->waited_s();
  for (int r = 0; r <= last; ++r)
    EXPECT_EQ(waited_s[static_cast<std::size_t>(r)] > 0, r == last - me) << r;
}

TEST(Comm, has_waited_for_nobody_in_the_beginning) {
  auto const others = make_world_comm({});
  EXPECT_EQ(std::ranges::count(others->waited_s(), 0), g_comm->size());
}

// Unequal numbers of them, before, between and after collectives; main's end takes the rest.
TEST(Comm, signs_of_life_disturb_nothing_and_need_nobody) {
  auto const others = make_world_comm({.patience_s = 1800, .sign_s = 0});
  for (int i = 0; i < 1000 * g_comm->rank(); ++i) others->still_here();
  EXPECT_EQ(others->agree(g_comm->rank()), g_comm->size() - 1);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 10; ++i) others->still_here();
    EXPECT_EQ(others->agree(-round), -round);
  }
  if (g_comm->rank() == 0)
    for (int i = 0; i < 1000; ++i) others->still_here();
}

// Rank 0 hears first that one waits, then that another is busy.
TEST(SignsOfLife, somebody_who_waits_is_not_forgotten_when_another_is_busy) {
  if (g_comm->size() < 3) return;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  SignsOfLife signs(own, 0);
  auto const me = g_comm->rank();
  EXPECT_FALSE(signs.is_asked());
  if (me == 1) signs.give(Sign::waiting);
  for (Backoff backoff; me == 0 && !signs.is_asked(); backoff.pause()) signs.hear();
  g_comm->agree(0);
  if (me == 2) signs.give(Sign::busy);
  for (Backoff backoff; me == 0 && !signs.hear();) backoff.pause();
  if (me == 0) {
    EXPECT_TRUE(signs.is_asked());
    signs.give(Sign::busy);  // this answers it
    EXPECT_FALSE(signs.is_asked());
  }
  g_comm->agree(0);  // an end is a sign, too
  signs.end(1800);
  MPI_Comm_free(&own);
}

TEST(Comm, ranks_of_one_machine_count_each_other) {
  EXPECT_EQ(g_comm->local_size(), g_comm->size());
  EXPECT_EQ(g_comm->local_rank(), g_comm->rank());
  EXPECT_EQ(g_comm->node_leader(), 0);
}

// The first rank has a node for itself, and the others have another one together.
TEST(Comm, ranks_count_those_of_their_node_alone) {
  auto const me = g_comm->rank(), size = g_comm->size();
  MPI_Comm data = MPI_COMM_NULL, control = MPI_COMM_NULL, node = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &data);
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? 1 : 0, me, &node);
  {
    MpiComm const comm(data, control, node, {});
    EXPECT_EQ(comm.rank(), me);
    EXPECT_EQ(comm.size(), size);
    EXPECT_EQ(comm.local_rank(), me == 0 ? 0 : me - 1);
    EXPECT_EQ(comm.local_size(), me == 0 ? 1 : size - 1);
    EXPECT_EQ(comm.node_leader(), me == 0 ? 0 : 1);
  }
  MPI_Comm_free(&node);
}

TEST(Comm, names_its_library_on_one_line) {
  auto const version = mpi_version();
  ASSERT_FALSE(version.empty());
  EXPECT_EQ(version.find_first_of(",\n"), std::string::npos) << version;
}

TEST(Comm, single_rank_needs_nobody) {
  auto const alone = make_single_rank_comm();
  std::vector<std::byte> const send(8, std::byte{5});
  std::vector<std::byte> all(8);
  alone->all_gather_bytes(send, all);
  EXPECT_EQ(all, send);
  EXPECT_EQ(alone->agree(3), 3);
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  spillway::MpiScope const scope(argc, argv);
  auto const comm = spillway::make_world_comm({.patience_s = 1800});
  spillway::g_comm = comm.get();
  if (comm->rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  int const failed = RUN_ALL_TESTS();
  return comm->agree(failed);
}
