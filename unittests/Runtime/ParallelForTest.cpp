//===- ParallelForTest.cpp - The thread pool behind compiled kernels ------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla-c/Runtime.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// Sanitizers abort where malloc would return null, which is under test here.
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace {

using Body = std::function<void(int64_t i, int64_t j, void *scratch)>;

void parallelFor(int64_t outer, int64_t inner, int64_t scratchBytes,
                 Body body) {
  mlaRuntimeParallelFor(
      outer, inner, scratchBytes,
      [](void *context, int64_t i, int64_t j, void *scratch) {
        (*static_cast<Body *>(context))(i, j, scratch);
      },
      &body);
}

/// Holds every item back until `count` threads are in the loop, or a second has
/// passed: a loop of short items may well end before a worker wakes up.
class Meeting {
public:
  explicit Meeting(size_t count) : count(count) {}
  void attend() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (size() < count && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  }
  size_t size() {
    std::lock_guard<std::mutex> lock(mutex);
    return threads.size();
  }

private:
  size_t count;
  std::mutex mutex;
  std::set<std::thread::id> threads;
};

/// Every test starts with four threads, whatever the machine has.
class ParallelFor : public testing::Test {
protected:
  void SetUp() override { mlaRuntimeSetNumThreads(4); }
  void TearDown() override {
    EXPECT_EQ(mlaRuntimeTakeError(), nullptr);
    mlaRuntimeSetNumThreads(0);
  }
};

TEST_F(ParallelFor, RunsEveryItemOnce) {
  for (auto [outer, inner] : {std::pair<int64_t, int64_t>{1, 1},
                              {1, 100},
                              {100, 1},
                              {37, 53},
                              {3, 1000}}) {
    std::vector<std::atomic<int>> counts(outer * inner);
    parallelFor(outer, inner, 0,
                [&, inner = inner](int64_t i, int64_t j, void *) {
                  ++counts[i * inner + j];
                });
    for (auto &count : counts)
      ASSERT_EQ(count, 1);
  }
}

TEST_F(ParallelFor, HandsOutItemsInOrder) {
  mlaRuntimeSetNumThreads(1);
  std::vector<std::pair<int64_t, int64_t>> order;
  parallelFor(2, 3, 0,
              [&](int64_t i, int64_t j, void *) { order.push_back({i, j}); });
  EXPECT_EQ(order, (std::vector<std::pair<int64_t, int64_t>>{
                       {0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
}

TEST_F(ParallelFor, DoesNothingForEmptyExtents) {
  for (auto [outer, inner] : {std::pair<int64_t, int64_t>{0, 5},
                              {5, 0},
                              {0, 0},
                              {-1, 5},
                              {5, -1},
                              {-1, -1}})
    parallelFor(outer, inner, 64, [](int64_t, int64_t, void *) { FAIL(); });
}

TEST_F(ParallelFor, UsesTheThreadsAskedFor) {
  for (size_t count : {1, 2, 4, 7}) {
    mlaRuntimeSetNumThreads(count);
    Meeting meeting(count);
    parallelFor(64, 1, 0, [&](int64_t, int64_t, void *) { meeting.attend(); });
    EXPECT_EQ(meeting.size(), count);
  }
}

TEST_F(ParallelFor, NeverUsesMoreThreadsThanItems) {
  Meeting meeting(2);
  parallelFor(2, 1, 0, [&](int64_t, int64_t, void *) { meeting.attend(); });
  EXPECT_LE(meeting.size(), 2u);
}

TEST_F(ParallelFor, GivesEachThreadItsOwnAlignedScratch) {
  for (int64_t bytes : {1, 100, 4096, 100000, 3000000}) {
    Meeting meeting(4);
    std::atomic<int> collisions{0};
    parallelFor(100, 1, bytes, [&](int64_t i, int64_t, void *scratch) {
      meeting.attend();
      ASSERT_NE(scratch, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch) % 4096, 0u);
      std::memset(scratch, static_cast<int>(i), bytes);
      std::this_thread::yield();
      auto *data = static_cast<unsigned char *>(scratch);
      if (data[0] != i || data[bytes / 2] != i || data[bytes - 1] != i)
        ++collisions;
    });
    EXPECT_EQ(collisions, 0);
  }
}

TEST_F(ParallelFor, KeepsScratchBetweenCalls) {
  mlaRuntimeSetNumThreads(1);
  void *before = nullptr, *after = nullptr;
  parallelFor(1, 1, 1 << 20,
              [&](int64_t, int64_t, void *scratch) { before = scratch; });
  parallelFor(1, 1, 1 << 10,
              [&](int64_t, int64_t, void *scratch) { after = scratch; });
  EXPECT_EQ(before, after);
}

TEST_F(ParallelFor, PassesNoScratchWhenNoneIsWanted) {
  for (int64_t bytes : {0, -1})
    parallelFor(10, 1, bytes, [](int64_t, int64_t, void *scratch) {
      EXPECT_EQ(scratch, nullptr);
    });
}

TEST_F(ParallelFor, RunsNestedLoopsOnTheSameThread) {
  std::atomic<int> items{0}, strays{0}, overlaps{0};
  parallelFor(20, 1, 64, [&](int64_t, int64_t, void *outerScratch) {
    std::memset(outerScratch, 1, 64);
    auto self = std::this_thread::get_id();
    parallelFor(5, 2, 64, [&](int64_t, int64_t, void *innerScratch) {
      ++items;
      strays += std::this_thread::get_id() != self;
      overlaps += innerScratch == outerScratch;
      std::memset(innerScratch, 2, 64);
    });
    overlaps += static_cast<char *>(outerScratch)[63] != 1;
  });
  EXPECT_EQ(items, 200);
  EXPECT_EQ(strays, 0);
  EXPECT_EQ(overlaps, 0);
}

TEST_F(ParallelFor, ServesConcurrentCallers) {
  constexpr int callers = 8, loops = 200, items = 64;
  std::vector<int64_t> sums(callers);
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller)
    threads.emplace_back([&, caller] {
      mlaRuntimeSetNumThreads(1 + caller % 4);
      for (int loop = 0; loop < loops; ++loop) {
        std::atomic<int64_t> sum{0};
        parallelFor(8, items / 8, 128,
                    [&](int64_t i, int64_t j, void *scratch) {
                      *static_cast<int64_t *>(scratch) = i * 8 + j;
                      sum += *static_cast<int64_t *>(scratch);
                    });
        sums[caller] += sum;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int64_t sum : sums)
    EXPECT_EQ(sum, int64_t(loops) * items * (items - 1) / 2);
}

TEST_F(ParallelFor, RunsItemsInTheCallersFloatingPointEnvironment) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  Meeting meeting(4);
  std::atomic<int> others{0};
  parallelFor(64, 1, 0, [&](int64_t, int64_t, void *) {
    meeting.attend();
    others += std::fegetround() != FE_UPWARD;
  });
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(others, 0);
  parallelFor(64, 1, 0, [&](int64_t, int64_t, void *) {
    others += std::fegetround() != FE_TONEAREST;
  });
  EXPECT_EQ(others, 0);
}

TEST_F(ParallelFor, ReportsExhaustedMemoryAndRunsNothing) {
  for (int threads : {1, 4}) {
    mlaRuntimeSetNumThreads(threads);
    parallelFor(10, 1, int64_t(1) << 60,
                [](int64_t, int64_t, void *) { FAIL(); });
    EXPECT_STREQ(
        mlaRuntimeTakeError(),
        "out of memory: a thread needs 1152921504606846976 bytes of scratch");
    EXPECT_EQ(mlaRuntimeTakeError(), nullptr);
  }
  // The buffer that was given up for the large one is back.
  parallelFor(10, 1, 64, [](int64_t, int64_t, void *scratch) {
    EXPECT_NE(scratch, nullptr);
  });
}

TEST_F(ParallelFor, ReportsTooManyItems) {
  parallelFor(INT64_MAX, 2, 0, [](int64_t, int64_t, void *) { FAIL(); });
  EXPECT_STREQ(mlaRuntimeTakeError(),
               "a parallel loop of 9223372036854775807 x 2 items is too large");
}

TEST_F(ParallelFor, BringsErrorsOfNestedLoopsToTheCaller) {
  Meeting meeting(2);
  auto caller = std::this_thread::get_id();
  parallelFor(64, 1, 0, [&](int64_t, int64_t, void *) {
    meeting.attend();
    if (std::this_thread::get_id() != caller)
      parallelFor(1, 1, int64_t(1) << 60, [](int64_t, int64_t, void *) {});
  });
  const char *error = mlaRuntimeTakeError();
  ASSERT_NE(error, nullptr);
  EXPECT_TRUE(std::strstr(error, "out of memory")) << error;
}

TEST_F(ParallelFor, WorksInAForkedChild) {
  std::atomic<int> count{0};
  parallelFor(64, 1, 0, [&](int64_t, int64_t, void *) { ++count; });
  ASSERT_EQ(count, 64);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20); // a lost worker would hang the child
    Meeting meeting(4);
    parallelFor(64, 1, 4096,
                [&](int64_t, int64_t, void *) { meeting.attend(); });
    _exit(meeting.size() == 4 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

} // namespace
