// Which calls of libc are counted, and what becomes of one that is. Set by the environment:
//
//   SPILLWAY_FAULT_CALLS   which: names with commas between them, of write pwrite pread fsync
//                          fdatasync close rename mkdir unlink rmdir ftruncate fallocate flock
//                          open. A name means all of its kind: 64-bit, `at` and vector forms;
//                          unlinkat and remove too
//   SPILLWAY_FAULT_PATH    only of paths that contain this text; of a descriptor, its file's path
//   SPILLWAY_FAULT_KIND    only of a `directory`, or of what is none: `file`
//   SPILLWAY_FAULT_RANK    only in the process of this rank of mpirun
//   SPILLWAY_FAULT_AFTER   only once the process has written this text, in one piece, to stderr
//   SPILLWAY_FAULT_STRIDE  of write, pwrite and pread, only every so manieth is counted
//   SPILLWAY_FAULT_DO      what a counted call does: fails with an errno (ENOSPC, or its number),
//                          or `kill`: the process is killed before the call, or `hang`: the call
//                          never returns, or `stop`: the process gets SIGUSR1, and the call goes on
//   SPILLWAY_FAULT_AT      which of them do it: 3, 3-5, 3- (without it: all), numbered from 1
//   SPILLWAY_FAULT_SHORT   with it, of a write that would fail the first half is written, and the
//                          next write fails: what a full disk does
//   SPILLWAY_FAULT_NO_EXCHANGE   set: files cannot be exchanged, as on a network file system; that
//                          is not counted as a rename
//   SPILLWAY_FAULT_COUNT   a file to which every counted call adds a line, "fsync /path"
//
// Without SPILLWAY_FAULT_CALLS nothing happens. A process counts on its own, from 1.
#pragma once

#include <cstddef>

namespace spillway::planted {

enum class Call : unsigned {
  write,
  pwrite,
  pread,
  fsync,
  fdatasync,
  close,
  rename,
  mkdir,
  unlink,
  rmdir,
  ftruncate,
  fallocate,
  flock,
  open,
  count
};

// What a call is about: a descriptor, or a path below a directory's descriptor (or AT_FDCWD).
struct Subject {
  int fd = -1;
  char const* path = nullptr;
  char const* second_path = nullptr;  // of rename
};

// The errno with which this call has to fail, or 0. Counts it; may not return. Keeps errno.
int fate(Call call, Subject const& subject);

// Looks at what goes to stderr: see SPILLWAY_FAULT_AFTER.
void note_said(void const* bytes, std::size_t size);

// How many of these bytes are to be written where `fate` gave an errno: 0 says "fail".
std::size_t short_length(std::size_t bytes);

}  // namespace spillway::planted
