// A SampleOrder says from which text the samples of a run are taken, in which order, from the
// beginning of the run. Checkpoints record it, so that a run can go on even if its data have
// changed. These functions are pure except for DataNow::count, whose exceptions they pass on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// A KnownFile identifies a token file by its content, whatever its path.
struct KnownFile {
  std::string path;  // where it was last found
  std::int64_t tokens = 0;
  std::string fingerprint;  // a checksum of the content (TokenFile::fingerprint)

  bool is_same(KnownFile const& other) const {
    return tokens == other.tokens && fingerprint == other.fingerprint;
  }
};

// Returns the first of `files` that has the same content as `file`, or null.
KnownFile const* find(std::vector<KnownFile> const& files, KnownFile const& file);

// Returns whether both lists have the same contents in the same order, whatever the paths.
bool same_files(std::vector<KnownFile> const& one, std::vector<KnownFile> const& other);

// The samples of a SampleRange begin with sample `begin`, which is the first one of epoch `epoch`,
// and end where the next SampleRange begins. They are windows of `files`, shuffled by `seed`.
struct SampleRange {
  std::int64_t begin = 0, epoch = 0;
  std::uint64_t seed = 0;
  std::vector<KnownFile> files;
  // How many windows an epoch has, or 0 if all windows are equally long.
  std::int64_t windows = 0;

  std::int64_t tokens() const;
};

// The last SampleRange has no end and goes on with one epoch after the other. Each SampleRange
// before it completes an epoch that was under way when the data changed.
struct SampleOrder {
  std::int64_t window = 0;  // how many tokens of text a sample is made of, at most
  std::vector<SampleRange> ranges;
  // Names the rule by which windows end if they are not equally long (cut_name), else empty.
  std::string cut = {};

  std::int64_t windows(SampleRange const& range) const {
    return cut.empty() ? (range.tokens() - 1) / window : range.windows;
  }
};

// Describes the data of a run as they are now.
struct DataNow {
  std::vector<KnownFile> files;
  std::int64_t window = 0;
  std::uint64_t seed = 0;
  // If windows are not equally long, `cut` names the rule by which they end (cut_name), and `count`
  // opens files and counts their windows. `count` must be set if `cut` is not empty.
  std::string cut = {};
  std::function<std::int64_t(std::vector<KnownFile> const&)> count = nullptr;
};

SampleOrder begun(DataNow const& now);

// Returns the order of a run that has done `samples` samples in the order `before`. If no data have
// changed, the order stays the same. Otherwise the epoch under way is completed first, with no
// window used twice: with its windows that are left, and then with those of new files. After it
// come the data as they are now. Throws Error(bad_input) if the epoch cannot be completed, because
// a needed file is gone or windows have another length. If `anew` is true, an epoch of the data as
// they are now begins at once. `said` tells the user what has changed and what follows from it.
struct Continued {
  SampleOrder order;
  std::vector<std::string> said;
};
Continued continued(SampleOrder const& before, std::int64_t samples, DataNow const& now, bool anew);

std::string to_json(SampleOrder const& order);
// Reads what to_json wrote. Throws Error(damaged), which names `source`, for any other text.
SampleOrder sample_order(std::string_view json, std::string const& source);

}  // namespace spillway
