//===- Environment.h - Environment variables of one test --------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_UNITTESTS_ENVIRONMENT_H
#define MLA_UNITTESTS_ENVIRONMENT_H

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

/// Sets variables for one test.
class Environment {
public:
  ~Environment() {
    for (auto &[name, value] : old)
      apply(name, value);
  }
  /// Without a value the variable is not there.
  void set(const char *name, std::optional<std::string> value) {
    const char *before = std::getenv(name);
    old.emplace(name,
                before ? std::optional<std::string>(before) : std::nullopt);
    apply(name, value);
  }

private:
  static void apply(const std::string &name,
                    const std::optional<std::string> &value) {
    if (value)
      setenv(name.c_str(), value->c_str(), /*overwrite=*/1);
    else
      unsetenv(name.c_str());
  }
  std::map<std::string, std::optional<std::string>> old;
};

#endif // MLA_UNITTESTS_ENVIRONMENT_H
