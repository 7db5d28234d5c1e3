// An OwnerFile says which process runs in a directory if the file system has no flock. The process
// renews the file as long as it lives.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "io/file/file.hpp"

namespace spillway {

struct OwnerTimes {
  double renew_s = 5;
  double watch_s = 20;  // if no renewal is seen for so long, the owner is gone
};

class OwnerFile {
 public:
  // Creates the file. If it already exists, its owner is alive if that is a running process of this
  // machine, or if the file is renewed. Then this throws Error(bad_input), which names the owner.
  // Otherwise the file is taken over, with a warning. Throws Error(bad_input) also if the file
  // cannot be created, written or removed.
  explicit OwnerFile(std::filesystem::path path, OwnerTimes times = {});
  ~OwnerFile();
  OwnerFile(OwnerFile const&) = delete;
  OwnerFile& operator=(OwnerFile const&) = delete;

  // Returns false once another job has taken the file over, because this process was stopped for
  // longer than that job watched. This is noticed at the next renewal.
  bool is_ours() const { return m_ours; }
  // Returns false if another job has taken the file over. Unlike is_ours(), it asks the file system
  // now, which may take long.
  bool is_ours_now() const { return m_ours && may_be_ours(); }

 private:
  OwnerFile() = default;
  void make();
  void renew();
  void keep_renewing();
  bool may_be_ours() const;

  std::filesystem::path m_path;
  OwnerTimes m_times;
  FileDescriptor m_file;
  long long m_count = 0;
  off_t m_count_offset = 0;
  std::atomic<bool> m_ours = true;
  std::mutex m_mutex;
  std::condition_variable m_end;
  bool m_ends = false;
  std::thread m_thread;
};

}  // namespace spillway
