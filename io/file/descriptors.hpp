// How many files a process may have open.
#pragma once

namespace spillway {

// Raises the soft limit of open files to the hard one: the soft one is low, commonly 1024, for
// programs that use select. What cannot be raised stays.
void allow_many_open_files() noexcept;

}  // namespace spillway
