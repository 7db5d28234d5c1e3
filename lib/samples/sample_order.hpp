// A SampleOrder says from which text the samples of a run are taken, in which order, from the
// beginning of the run. Checkpoints record it, so that a run can go on even if its data have
// changed. These functions are pure except for DataNow::count, whose exceptions they pass on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "samples/data_order.hpp"

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

// Says of a part of a mix how many of the range's files it has and how many samples of each block
// (samples/mix.hpp) are its own. `windows` are counted if they are not equally long, else 0.
struct KnownPart {
  std::int64_t files = 0, share = 0, windows = 0;

  bool operator==(KnownPart const&) const = default;
};

// The samples of a SampleRange begin with sample `begin`, which is the first one of epoch `epoch`,
// and end where the next SampleRange begins. They are windows of `files`, shuffled by `seed`.
struct SampleRange {
  std::int64_t begin = 0, epoch = 0;
  std::uint64_t seed = 0;
  std::vector<KnownFile> files;
  // How many windows an epoch has, or 0 if all windows are equally long.
  std::int64_t windows = 0;
  // Parts of the files, one behind the other, that are mixed; empty if they are one text. Each part
  // has epochs of its own, of which the first is `epoch`.
  std::vector<KnownPart> mix = {};

  std::int64_t tokens() const;
};

// The last SampleRange has no end and goes on with one epoch after the other. Each SampleRange
// before it completes an epoch that was under way when the data changed.
struct SampleOrder {
  std::int64_t window = 0;  // how many tokens of text a sample is made of, at most
  std::vector<SampleRange> ranges;
  // Names the rule by which windows end if they are not equally long (cut_name), else empty.
  std::string cut = {};

  std::int64_t windows(SampleRange const& range) const;
  // Returns how many windows each part of a mix has, and its share.
  std::vector<MixedPart> parts(SampleRange const& range) const;
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
  std::vector<KnownPart> mix = {};  // of `files`
};

SampleOrder begun(DataNow const& now);

// Returns the order of a run that has done `samples` samples in the order `before`. If no data have
// changed, the order stays the same. Otherwise the epoch under way is completed first, with no
// window used twice: with its windows that are left, and then with those of new files. After it
// come the data as they are now. Throws Error(bad_input) if the epoch cannot be completed, because
// a needed file is gone, windows have another length, or data are mixed, before or now. If `anew`
// is true, an epoch of the data as they are now begins at once. `said` tells the user what has
// changed and what follows from it.
struct Continued {
  SampleOrder order;
  std::vector<std::string> said;
};
Continued continued(SampleOrder const& before, std::int64_t samples, DataNow const& now, bool anew);

std::string to_json(SampleOrder const& order);
// Reads what to_json wrote. Throws Error(damaged), which names `source`, for any other text.
SampleOrder sample_order(std::string_view json, std::string const& source);

}  // namespace spillway
