// All ranks must train and evaluate on equal files. Nodes may have their own copies, of which one
// may be stale, so ranks compare them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.hpp"
#include "io/tokens/token_set.hpp"
#include "samples/sample_order.hpp"

namespace spillway {

// Reads the size and fingerprint of each file. Throws Error(storage).
std::vector<KnownFile> known_files(std::span<TokenFile const> files);

// Returns the first difference between a rank's files and those of rank 0 as a line that begins
// with `key`, or "" if there is none.
std::string files_differ(std::string_view key, std::vector<KnownFile> const& here,
                         std::vector<KnownFile> const& there);

// Compares the names and contents of a key's files between ranks. All ranks must call it. Throws
// AgreedError(bad_input), which names rank, key and file.
void require_same_files(Comm& comm, std::string_view key, TokenSet const& tokens);

}  // namespace spillway
