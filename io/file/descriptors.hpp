// Raises the limit on how many files this process may have open.
#pragma once

namespace spillway {

// Raises the soft limit on open files to the hard limit. The soft limit is low, commonly 1024, for
// programs that use select. If it cannot be raised, it stays as it is.
void allow_many_open_files() noexcept;

}  // namespace spillway
