//===- NumThreadsTest.cpp - How many threads a loop uses ------------------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla-c/Runtime.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <sched.h>
#include <string>
#include <thread>

namespace {

TEST(NumThreads, IsASettingOfTheThread) {
  mlaRuntimeSetNumThreads(3);
  EXPECT_EQ(mlaRuntimeGetNumThreads(), 3);
  EXPECT_EQ(mlaRuntimeEffectiveNumThreads(), 3);
  std::thread([] {
    EXPECT_EQ(mlaRuntimeGetNumThreads(), 0);
    mlaRuntimeSetNumThreads(5);
  }).join();
  EXPECT_EQ(mlaRuntimeGetNumThreads(), 3);
  mlaRuntimeSetNumThreads(0);
  EXPECT_EQ(mlaRuntimeGetNumThreads(), 0);
}

TEST(NumThreads, TakesNegativeNumbersAsTheDefault) {
  mlaRuntimeSetNumThreads(-4);
  EXPECT_EQ(mlaRuntimeGetNumThreads(), 0);
  EXPECT_GE(mlaRuntimeEffectiveNumThreads(), 1);
}

TEST(NumThreads, HasALimit) {
  mlaRuntimeSetNumThreads(2000000000);
  EXPECT_LE(mlaRuntimeEffectiveNumThreads(), 4096);
  mlaRuntimeSetNumThreads(0);
}

// The environment is read once a process, so each value gets a process; a death
// test is one.
[[noreturn]] void exitWithDefault(const char *value) {
  setenv("MLA_NUM_THREADS", value, 1);
  std::exit(mlaRuntimeEffectiveNumThreads());
}

TEST(NumThreadsDeathTest, DefaultComesFromTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exitWithDefault("7"), testing::ExitedWithCode(7), "");
}

TEST(NumThreadsDeathTest, DefaultIsTheAffinityOtherwise) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  for (const char *value : {"", "0", "-3", "many", "4x"})
    EXPECT_EXIT(exitWithDefault(value),
                testing::ExitedWithCode(CPU_COUNT(&set)), "")
        << value;
}

} // namespace
