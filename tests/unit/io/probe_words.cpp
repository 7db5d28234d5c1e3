// Advice on what this machine lacks: a line each, whatever machine it is.
#include <gtest/gtest.h>
#include <liburing.h>

#include <cerrno>
#include <cstdint>
#include <map>
#include <new>

#include "io/file/descriptors.hpp"
#include "io/ring/backends.hpp"
#include "io/ring/probe.hpp"
#include "tests/support/resource_limit.hpp"

namespace spillway::probe_words_test {
namespace {

using Lines = std::vector<std::string>;

TEST(ProbeWords, of_a_ring_say_what_to_change) {
  auto const forbidden =
      "io_uring is forbidden here (EPERM): set kernel.io_uring_disabled to 0, or let the "
      "container's seccomp profile allow io_uring_setup, io_uring_enter, io_uring_register";
  EXPECT_EQ(setup_advice(EPERM), forbidden);
  EXPECT_EQ(setup_advice(EACCES), forbidden);
  EXPECT_EQ(setup_advice(ENOSYS),
            "this kernel has no io_uring (ENOSYS): Linux 5.11 or later is needed, or a sandbox "
            "hides it");
  EXPECT_EQ(setup_advice(ENOMEM),
            "no locked memory left for a ring (ENOMEM): raise `ulimit -l` (memlock in "
            "/etc/security/limits.conf)");
  EXPECT_EQ(setup_advice(EIO), "io_uring cannot be set up: Input/output error");
  test::ResourceLimit const limit(RLIMIT_MEMLOCK, 4096);
  EXPECT_EQ(register_advice(5000, EFAULT),
            "buffers cannot be registered (Bad address); plain buffers will be used");
  EXPECT_EQ(register_advice(5000, ENOMEM),
            "5000 bytes cannot be registered with a locked-memory limit of 4096; raise `ulimit -l` "
            "(memlock in /etc/security/limits.conf), else plain buffers are used");
  EXPECT_EQ(probe_ring(4096).memlock_bytes, 4096);
  EXPECT_EQ(probe_ring(8192).register_bytes, 8192);
}

TEST(ProbeWords, of_a_ring_name_each_thing_that_is_missing) {
  Lines const all = {"completions are never dropped (Linux 5.5)",
                     "waiting with a timeout (Linux 5.11)", "native workers (Linux 5.12)"};
  EXPECT_EQ(missing_features(0), all);
  constexpr unsigned no_drop = 1 << 1, ext_arg = 1 << 8, native_workers = 1 << 9;
  EXPECT_EQ(missing_features(no_drop), (Lines{all[1], all[2]}));
  EXPECT_EQ(missing_features(ext_arg), (Lines{all[0], all[2]}));
  EXPECT_EQ(missing_features(no_drop | ext_arg), (Lines{all[2]}));
  EXPECT_EQ(missing_features(no_drop | ext_arg | native_workers), Lines());
  RingProbe probe;
  probe.fixed_buffers = true;
  EXPECT_EQ(ring_advice(probe), Lines());
  Lines const old = {"this kernel's io_uring is old: Linux 5.12 or later has all we use"};
  probe.missing_features = {all[2]};
  EXPECT_EQ(ring_advice(probe), old);
  probe.missing_features.clear();
  probe.missing_operations = {"read"};
  EXPECT_EQ(ring_advice(probe), old);
  probe.fixed_buffers = false;
  probe.register_bytes = 77;
  probe.register_error = EINVAL;
  EXPECT_EQ(ring_advice(probe), (Lines{register_advice(77, EINVAL), old[0]}));
}

TEST(ProbeWords, of_a_ring_name_each_operation_that_a_kernel_has_not) {
  constexpr int known = 32;
  auto const bytes = sizeof(io_uring_probe) + known * sizeof(io_uring_probe_op);
  std::vector<std::uint64_t> memory(bytes / sizeof(std::uint64_t) + 1);  // zeros, no padding
  auto& offered = *::new (memory.data()) io_uring_probe{};
  EXPECT_EQ(missing_operations(offered), (Lines{"read", "write", "read_fixed", "write_fixed"}));
  offered.last_op = known - 1;
  for (int const op : {IORING_OP_READ, IORING_OP_WRITE_FIXED})
    offered.ops[op].flags = IO_URING_OP_SUPPORTED;
  EXPECT_EQ(missing_operations(offered), (Lines{"write", "read_fixed"}));
  for (int const op : {IORING_OP_WRITE, IORING_OP_READ_FIXED})
    offered.ops[op].flags = IO_URING_OP_SUPPORTED;
  EXPECT_EQ(missing_operations(offered), Lines());
}

TEST(ProbeWords, of_file_systems_are_their_names) {
  std::map<long, std::string> const names = {
      {0xef53, "ext4"},      {0x58465342, "xfs"},     {0x9123683e, "btrfs"}, {0xf2f52010, "f2fs"},
      {0x01021994, "tmpfs"}, {0x794c7630, "overlay"}, {0x858458f6, "ramfs"}, {0x6969, "nfs"},
      {0xff534d42, "smb"},   {0xfe534d42, "smb"},     {0x00c36400, "ceph"},  {0x0bd00bd0, "lustre"},
      {0x47504653, "gpfs"},  {0x19830326, "beegfs"},  {0x2fc12fc1, "zfs"},   {0xabc, "0xabc"}};
  for (auto const& [magic, name] : names) EXPECT_EQ(file_system_name(magic), name);
}

TEST(ProbeWords, of_a_directory_say_what_spilling_there_means) {
  DirectoryProbe probe;
  probe.file_system = "ext4";
  EXPECT_EQ(directory_advice("/d", probe), Lines());
  probe.direct_error = EINVAL;
  Lines const cached = {
      "/d refuses direct I/O (O_DIRECT: Invalid argument): spilled bytes will pass through the "
      "page cache"};
  EXPECT_EQ(directory_advice("/d", probe), cached);
  probe.file_system = "nfs";
  EXPECT_EQ(directory_advice("/d", probe),
            (Lines{"/d is on nfs: prefer a disk of this node for spilling", cached[0]}));
  probe.file_system = "tmpfs";
  EXPECT_EQ(directory_advice("/d", probe),
            (Lines{"/d is in main memory (tmpfs): spilling there frees nothing; choose a disk"}));
  probe.file_system = "ramfs";
  EXPECT_EQ(directory_advice("/d", probe),
            (Lines{"/d is in main memory (ramfs): spilling there frees nothing; choose a disk"}));
  probe.file_system = "xfs";
  probe.write_error = EROFS;
  EXPECT_EQ(directory_advice("/d", probe), (Lines{"/d cannot be written: Read-only file system"}));
}

TEST(ProbeWords, of_backends_are_those_of_the_keys) {
  EXPECT_EQ(backend_in_words("uring"), "io_uring, buffers registered once");
  EXPECT_EQ(backend_in_words("uring-plain"), "io_uring, buffers pinned for every transfer");
  EXPECT_EQ(backend_in_words("posix"), "threads that call pread and pwrite");
  EXPECT_STREQ(make_transfer_queue({Backend::posix, 3}).queue->backend(), "posix");
}

TEST(OpenFiles, may_be_as_many_as_the_hard_limit) {
  test::ResourceLimit const limit(RLIMIT_NOFILE, 64);
  allow_many_open_files();
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, now.rlim_max);
}

}  // namespace
}  // namespace spillway::probe_words_test
