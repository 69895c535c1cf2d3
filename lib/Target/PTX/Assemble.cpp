//===- Assemble.cpp - PTX to machine code with ptxas ------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Target/PTX/Assemble.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <optional>

using namespace mlir::mla;
using namespace mlir::mla::ptx;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Where ptxas is
//===----------------------------------------------------------------------===//

static std::optional<std::string> getVariable(StringRef name) {
  auto value = llvm::sys::Process::GetEnv(name);
  if (value && value->empty())
    return std::nullopt;
  return value;
}

llvm::Expected<std::string>
ptx::findPtxas(llvm::ArrayRef<std::string> folders) {
  if (auto path = getVariable("MLA_PTXAS")) {
    if (llvm::sys::fs::can_execute(*path))
      return *path;
    return llvm::createStringError("MLA_PTXAS: '" + *path +
                                   "' is not a program");
  }

  llvm::SmallVector<std::string> looked;
  auto find = [&](StringRef folder) -> std::optional<std::string> {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return path.str().str();
    looked.push_back(folder.str());
    return std::nullopt;
  };

  if (auto value = getVariable("PATH")) {
    llvm::SmallVector<StringRef> parts;
    StringRef(*value).split(parts, llvm::sys::EnvPathSeparator, /*MaxSplit=*/-1,
                            /*KeepEmpty=*/false);
    for (StringRef part : parts)
      if (auto path = find(part))
        return *path;
  }
  if (auto home = getVariable("CUDA_HOME")) {
    llvm::SmallString<128> bin(*home);
    llvm::sys::path::append(bin, "bin");
    if (auto path = find(bin))
      return *path;
  }
  for (const std::string &folder : folders) {
    if (auto path = find(folder))
      return *path;
    llvm::SmallString<128> bin(folder);
    llvm::sys::path::append(bin, "bin");
    if (auto path = find(bin))
      return *path;
  }
  return llvm::createStringError(
      "ptxas not found; put it on PATH, or set MLA_PTXAS to it or CUDA_HOME to "
      "the toolkit, or install the Python package nvidia-cuda-nvcc. Looked "
      "in " +
      (looked.empty() ? "no folder" : llvm::join(looked, ", ")));
}

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

namespace {
/// A folder of our own for one run, gone with the object.
class WorkFolder {
public:
  static llvm::Expected<WorkFolder> create() {
    WorkFolder folder;
    if (auto error =
            llvm::sys::fs::createUniqueDirectory("mla-ptxas", folder.path))
      return llvm::createStringError(error, "cannot make a temporary folder: " +
                                                error.message());
    return std::move(folder);
  }
  WorkFolder(WorkFolder &&other) : path(std::move(other.path)) {
    other.path.clear();
  }
  WorkFolder &operator=(WorkFolder &&) = delete;
  ~WorkFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }

  std::string getFile(StringRef name) const {
    llvm::SmallString<128> file(path);
    llvm::sys::path::append(file, name);
    return file.str().str();
  }

private:
  WorkFolder() = default;

  llvm::SmallString<128> path;
};
} // namespace

static llvm::Error writeFile(const std::string &path, StringRef contents) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    os << contents;
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    return llvm::createStringError(error, "cannot write '" + path +
                                              "': " + error.message());
  return llvm::Error::success();
}

/// The contents of a file, empty if there is none.
static std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

static std::string replaceAll(std::string text, StringRef from, StringRef to) {
  for (size_t at = text.find(from.str()); at != std::string::npos;
       at = text.find(from.str(), at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Runs a program with its output and its errors in the file `log`: its exit
/// status, or less than 0 with the reason in `problem`.
static int runProgram(llvm::ArrayRef<StringRef> arguments, StringRef log,
                      std::string &problem) {
  std::optional<StringRef> redirects[] = {StringRef(), log, log};
  return llvm::sys::ExecuteAndWait(arguments.front(), arguments,
                                   /*Env=*/std::nullopt, redirects,
                                   /*SecondsToWait=*/0, /*MemoryLimit=*/0,
                                   &problem);
}

llvm::Expected<std::string> ptx::describePtxas() {
  auto program = findPtxas();
  if (!program) {
    llvm::consumeError(program.takeError());
    return "no ptxas";
  }
  auto folder = WorkFolder::create();
  if (!folder)
    return folder.takeError();
  std::string log = folder->getFile("log"), problem;
  int status = runProgram({*program, "--version"}, log, problem);
  if (status != 0)
    return llvm::createStringError(
        "'" + *program + "' failed: " +
        (status < 0 ? problem : "exit status " + std::to_string(status)));
  return *program + "\n" + readFile(log);
}

llvm::Expected<Assembled> ptx::assemble(StringRef ptx,
                                        const AssembleOptions &options) {
  auto program = findPtxas(options.folders);
  if (!program)
    return program.takeError();
  auto folder = WorkFolder::create();
  if (!folder)
    return folder.takeError();
  std::string source = folder->getFile("kernel.ptx");
  std::string cubin = folder->getFile("kernel.cubin");
  std::string log = folder->getFile("log");
  if (llvm::Error error = writeFile(source, ptx))
    return std::move(error);

  std::string chip = "-arch=" + options.chip;
  std::string optLevel = "-O" + std::to_string(options.optLevel);
  llvm::SmallVector<StringRef> arguments = {*program, chip, optLevel, "-v"};
  arguments.append(options.arguments.begin(), options.arguments.end());
  arguments.append({source, "-o", cubin});
  std::string problem;
  int status = runProgram(arguments, log, problem);

  Assembled result;
  result.output = replaceAll(readFile(log), source, options.name);
  result.report = parsePtxasOutput(result.output);
  if (status < 0)
    return llvm::createStringError("'" + *program + "' failed: " + problem +
                                   (result.output.empty() ? "" : "\n") +
                                   result.output);
  if (status > 0)
    return llvm::createStringError(
        "'" + *program + "' refused " + options.name + " (exit status " +
        std::to_string(status) + ")\n" + result.output);
  result.cubin = readFile(cubin);
  if (result.cubin.empty())
    return llvm::createStringError("'" + *program + "' wrote no output\n" +
                                   result.output);
  return result;
}
