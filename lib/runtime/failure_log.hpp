// What the failed transfers of one run mean: whether its commit saw them, or had let it go before.
#pragma once

#include <atomic>

namespace spillway {

// A transfer fails         and it matters     what follows
// before `collect`         or not             the commit says storage_error: nothing is updated
// later                    yes                if the commit let the step go, state is lost; its
//                                             write-backs are left out
// later                    no                 nothing: whatever reads it fails, too
//
// `note` by the transfer thread, `collect` and `decide` once by the commit, in this order.
class FailureLog {
 public:
  void reset() { m_seen = 0; }

  // A transfer has failed. `matters`: it held state, or what updates read. True when the state is
  // lost: updates were let go that should not have been.
  bool note(bool matters) {
    bool const collected = (m_seen.fetch_or(matters ? kSpoiled : kFailed) & kCollected) != 0;
    return collected && matters && (m_seen.fetch_or(kLate) & kGo) != 0;
  }
  bool any() const { return (m_seen & (kFailed | kSpoiled)) != 0; }
  // What updates make may be wrong. A failure that does not matter leaves a step that was let go
  // before it as it is.
  bool spoils_updates() const { return (m_seen & kSpoiled) != 0; }

  // Whether some transfer has failed so far.
  bool collect() { return (m_seen.fetch_or(kCollected) & (kFailed | kSpoiled)) != 0; }
  // True when the state is lost: a failure came between the two.
  bool decide(bool go) { return go && (m_seen.fetch_or(kGo) & kLate) != 0; }

 private:
  static constexpr unsigned kFailed = 1, kSpoiled = 2, kCollected = 4, kLate = 8, kGo = 16;
  std::atomic<unsigned> m_seen = 0;
};

}  // namespace spillway
