// A FailureLog says what the failed transfers of one run mean for the commit of that run.
#pragma once

#include <atomic>

namespace spillway {

// What follows from a failed transfer depends on when it fails and whether it matters:
// when it fails              does it matter?   what follows
// before `close_for_commit`  yes or no         The commit says storage_error, and nothing is
//                                              updated.
// later                      yes               If the commit lets updates run, state is lost, and
//                                              copies that take changed state back are left out.
// later                      no                Nothing follows: whatever reads the bytes
//                                              fails, too.
//
// The transfer thread calls `note`. The commit calls `close_for_commit` and then `decide`, once
// each.
class FailureLog {
 public:
  void reset() { m_seen = 0; }

  // Notes that a transfer has failed. `matters` says whether it moved state, or something that
  // updates read. Returns true if state is lost because the commit has already let updates run.
  bool note(bool matters) {
    bool const closed = (m_seen.fetch_or(matters ? kSpoiled : kFailed) & kClosed) != 0;
    return closed && matters && (m_seen.fetch_or(kLate) & kGo) != 0;
  }
  bool any() const { return (m_seen & (kFailed | kSpoiled)) != 0; }
  // Returns whether updates may give wrong results. Failures that do not matter cannot spoil a step
  // that the commit has let go.
  bool spoils_updates() const { return (m_seen & kSpoiled) != 0; }

  // Returns whether a transfer has failed so far. Failures after this call come too late for the
  // commit to say storage_error.
  bool close_for_commit() { return (m_seen.fetch_or(kClosed) & (kFailed | kSpoiled)) != 0; }
  // Returns true if state is lost because updates may run (`go`) although a transfer that matters
  // has failed since `close_for_commit`.
  bool decide(bool go) { return go && (m_seen.fetch_or(kGo) & kLate) != 0; }

 private:
  static constexpr unsigned kFailed = 1, kSpoiled = 2, kClosed = 4, kLate = 8, kGo = 16;
  std::atomic<unsigned> m_seen = 0;
};

}  // namespace spillway
