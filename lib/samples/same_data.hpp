// All ranks must train and evaluate on equal files. A check is needed, as nodes may have copies of
// their own, of which one is stale.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.hpp"
#include "io/tokens/token_set.hpp"
#include "samples/sample_order.hpp"

namespace spillway {

// What files are known by. Throws Error(storage).
std::vector<KnownFile> known_files(std::span<TokenFile const> files);

// The first difference of a rank's files from rank 0's, as a line that begins with `key`; empty if
// there is none.
std::string files_differ(std::string_view key, std::vector<KnownFile> const& here,
                         std::vector<KnownFile> const& there);

// Compares the names and contents of a key's files between ranks. Collective. Throws
// AgreedError(bad_input), which names rank, key and file.
void require_same_files(Comm& comm, std::string_view key, TokenSet const& tokens);

}  // namespace spillway
