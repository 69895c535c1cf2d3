//===- PtxasReport.cpp - What ptxas says ------------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every line of ptxas begins with who speaks and how loud,
//
//     ptxas info    : Used 168 registers, used 1 barriers, 4096 bytes smem
//     ptxas info    : (C7510) Potential Performance Loss: ...
//     ptxas warning : ...
//     ptxas kernel.ptx, line 7; error   : ...
//
// but for the sizes after "Function properties for", which have a line of their
// own and no beginning.
//
//===----------------------------------------------------------------------===//

#include "mla/Target/PTX/Assemble.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Regex.h"

#include <optional>

using namespace mlir::mla;
using namespace mlir::mla::ptx;
using llvm::StringRef;

namespace {
class Parser {
public:
  PtxasReport parse(StringRef output);

private:
  void parseLine(StringRef line);
  /// A fact, if the text is one that we know.
  bool parseFact(StringRef text);
  size_t findOrAdd(StringRef name);

  PtxasReport report;
  /// Indices into report.kernels: the entry function that is being compiled,
  /// and the function whose sizes come next.
  std::optional<size_t> entry, function;
};
} // namespace

/// The number before a unit, as in "used 1 barriers, 4096 bytes smem"; 0
/// without that unit.
static int64_t findNumber(StringRef text, StringRef unit) {
  llvm::SmallVector<StringRef> matches;
  int64_t number = 0;
  if (llvm::Regex(("([0-9]+) " + unit).str()).match(text, &matches))
    matches[1].getAsInteger(10, number);
  return number;
}

size_t Parser::findOrAdd(StringRef name) {
  for (auto [i, kernel] : llvm::enumerate(report.kernels))
    if (kernel.name == name)
      return i;
  KernelFacts &facts = report.kernels.emplace_back();
  facts.name = name.str();
  return report.kernels.size() - 1;
}

bool Parser::parseFact(StringRef text) {
  if (text.consume_front("Compiling entry function '")) {
    entry = findOrAdd(text.take_until([](char c) { return c == '\''; }));
    report.kernels[*entry].isEntry = true;
    return true;
  }
  if (text.consume_front("Function properties for ")) {
    function = findOrAdd(text.trim());
    return true;
  }
  if (text.starts_with("Used ") && entry) {
    KernelFacts &facts = report.kernels[*entry];
    facts.registers = findNumber(text, "registers");
    facts.barriers = findNumber(text, "barriers");
    facts.sharedBytes = findNumber(text, "bytes smem");
    return true;
  }
  if (text.contains("bytes stack frame") && function) {
    KernelFacts &facts = report.kernels[*function];
    facts.stackBytes = findNumber(text, "bytes stack frame");
    facts.spillStoreBytes = findNumber(text, "bytes spill stores");
    facts.spillLoadBytes = findNumber(text, "bytes spill loads");
    return true;
  }
  return text.contains("bytes gmem") || text.starts_with("Compile time = ");
}

void Parser::parseLine(StringRef line) {
  // 1: the PTX's line, 2: how loud, 3: a code, 4: the text.
  static const llvm::Regex pattern(
      "^ptxas (.*, line ([0-9]+); )?(info|warning|error|fatal) *: *"
      "(\\((C[0-9]+)\\) *)?(.*)$");
  llvm::SmallVector<StringRef> matches;
  if (!pattern.match(line, &matches)) {
    if (!line.trim().empty() && !parseFact(line))
      report.messages.push_back(
          {Message::Kind::Other, "", line.trim().str(), /*line=*/0});
    return;
  }
  StringRef level = matches[3], code = matches[5], text = matches[6];
  if (level == "info" && code.empty() && parseFact(text))
    return;

  Message message{Message::Kind::Error, code.str(), text.rtrim().str(),
                  /*line=*/0};
  matches[2].getAsInteger(10, message.line);
  if (level == "warning")
    message.kind = Message::Kind::Warning;
  else if (level == "info")
    message.kind =
        code.empty() ? Message::Kind::Other : Message::Kind::Advisory;
  report.messages.push_back(std::move(message));
}

PtxasReport Parser::parse(StringRef output) {
  llvm::SmallVector<StringRef> lines;
  output.split(lines, '\n');
  for (StringRef line : lines)
    parseLine(line.rtrim('\r'));
  return std::move(report);
}

PtxasReport ptx::parsePtxasOutput(StringRef output) {
  return Parser().parse(output);
}

/// setmaxnreg is ignored. ptxas says so of kernels that need no more registers
/// than each thread starts with, so that there are none to give away; in any
/// other kernel somebody spills.
static constexpr llvm::StringLiteral kRegistersStay = "C7508";

std::vector<std::string> PtxasReport::getProblems() const {
  bool spills = llvm::any_of(kernels, [](const KernelFacts &kernel) {
    return kernel.spillStoreBytes || kernel.spillLoadBytes;
  });
  std::vector<std::string> problems;
  for (const Message &message : messages)
    if (message.kind == Message::Kind::Warning)
      problems.push_back(message.text);
    else if (message.kind == Message::Kind::Advisory &&
             (spills || message.code != kRegistersStay))
      problems.push_back(message.code + ": " + message.text);
  for (const KernelFacts &kernel : kernels) {
    if (kernel.spillStoreBytes || kernel.spillLoadBytes)
      problems.push_back("'" + kernel.name + "' spills registers: stores of " +
                         std::to_string(kernel.spillStoreBytes) +
                         " bytes, loads of " +
                         std::to_string(kernel.spillLoadBytes));
    else if (kernel.stackBytes)
      problems.push_back("'" + kernel.name + "' keeps " +
                         std::to_string(kernel.stackBytes) +
                         " bytes in local memory");
  }
  return problems;
}

void PtxasReport::print(llvm::raw_ostream &os) const {
  for (const KernelFacts &kernel : kernels)
    if (kernel.isEntry)
      os << "'" << kernel.name << "': " << kernel.registers << " registers, "
         << kernel.sharedBytes << " bytes of shared memory, " << kernel.barriers
         << " barriers\n";
  for (const std::string &problem : getProblems())
    os << problem << "\n";
}
