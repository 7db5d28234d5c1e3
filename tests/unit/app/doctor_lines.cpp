#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "app/doctor_texts.hpp"
#include "io/ring/backends.hpp"

namespace spillway::doctor_lines_test {
namespace {

std::string text_of(int error) {
  return std::strerror(error);
}

TEST(DoctorLines, of_threads_name_what_allows_fewer_than_there_are_cores) {
  for (std::int64_t const threads : {4, 5})
    EXPECT_EQ(threads_text({threads, TeamLimiter::thread_limit}, 4),
              "threads             as many as cores\n");
  EXPECT_EQ(threads_text({3, TeamLimiter::thread_limit}, 4),
            "threads             3\n"
            "  -> OMP_THREAD_LIMIT allows no more: raise or unset it to use all cores\n");
}

TEST(DoctorLines, that_are_long_go_on_below_what_they_say) {
  EXPECT_EQ(found_text("  no GPU",
                       "there is no driver: libcuda.so.1: cannot open shared object file: No such "
                       "file or directory"),
            "  no GPU            there is no driver: libcuda.so.1: cannot open shared object\n"
            "                    file: No such file or directory\n");
}

TEST(DoctorLines, of_rings_say_what_does_not_work_and_what_to_change) {
  RingProbe ring;
  EXPECT_EQ(ring_text(ring),
            "io_uring            yes\n  fixed buffers     yes\n  memlock limit     none\n");
  ring.register_error = ENOMEM;
  ring.memlock_bytes = 8 << 20;
  ring.advice = {"ulimit -l", "ask somebody"};
  EXPECT_EQ(ring_text(ring),
            "io_uring            yes\n"
            "  fixed buffers     no: " +
                text_of(ENOMEM) +
                "\n"
                "  memlock limit     8 MiB\n"
                "  -> ulimit -l\n"
                "  -> ask somebody\n");
  ring.setup_error = EPERM;
  ring.advice = {};
  EXPECT_EQ(ring_text(ring),
            "io_uring            no: " + text_of(EPERM) + "\n  memlock limit     8 MiB\n");
}

TEST(DoctorLines, of_a_directory_say_what_it_offers) {
  DirectoryProbe disk;
  disk.file_system = "ext4";
  disk.free_bytes = std::int64_t{3} << 30;
  disk.direct_alignment_bytes = 512;
  EXPECT_EQ(directory_text("/scratch", disk),
            "directory           /scratch (ext4)\n"
            "  writable          yes\n"
            "  free              3 GiB\n"
            "  O_DIRECT          yes, 512 bytes aligned\n");
  disk.write_error = EROFS;
  disk.direct_error = EINVAL;
  disk.direct_alignment_bytes = 0;
  disk.advice = {"take another"};
  EXPECT_EQ(directory_text(".", disk),
            "directory           . (ext4)\n"
            "  writable          no: " +
                text_of(EROFS) +
                "\n"
                "  free              3 GiB\n"
                "  O_DIRECT          no: " +
                text_of(EINVAL) +
                "\n"
                "  -> take another\n");
}

TEST(DoctorLines, of_spilling_say_how_bytes_move_and_what_would_be_better) {
  EXPECT_EQ(spilling_text("posix", false, {"raise it", "or do not"}),
            "spilling there      posix: " + std::string(backend_in_words("posix")) +
                "\n  page cache        in between\n  -> raise it\n  -> or do not\n");
  EXPECT_EQ(spilling_text("uring-plain", true, {}),
            "spilling there      uring-plain: " + std::string(backend_in_words("uring-plain")) +
                "\n  page cache        passed by\n"
                "  -> beside a device with memory of its own a run registers what the drive uses;\n"
                "     on the cores only with debug.force_backend: uring, which makes it resident\n"
                "     at once and has gained nothing yet\n");
  EXPECT_EQ(spilling_text("uring", true, {}),
            "spilling there      uring: " + std::string(backend_in_words("uring")) +
                "\n  page cache        passed by\n");
}

}  // namespace
}  // namespace spillway::doctor_lines_test
