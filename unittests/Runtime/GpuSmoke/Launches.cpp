//===- Launches.cpp - Slots, graphs and the cost of a launch ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Kernels.h"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <set>
#include <thread>

namespace {
/// The driver's functions that make streams and graphs, which the runtime
/// leaves to its callers.
struct Driver {
  using Handle = void *;
  int (*retain)(Handle *, int);
  int (*setCurrent)(Handle);
  int (*streamCreate)(Handle *, unsigned);
  int (*streamDestroy)(Handle);
  int (*beginCapture)(Handle, int);
  int (*endCapture)(Handle, Handle *);
  int (*instantiate)(Handle *, Handle, unsigned long long);
  int (*graphLaunch)(Handle, Handle);
  int (*update)(Handle, Handle, void *);
  int (*graphDestroy)(Handle);
  int (*execDestroy)(Handle);
  int (*moduleLoad)(Handle *, const void *);
  int (*moduleGetFunction)(Handle *, Handle, const char *);
  int (*launchKernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, unsigned, Handle, void **, void **);

  static const Driver &get() {
    static const Driver driver = open();
    return driver;
  }

private:
  static Driver open() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    Driver driver;
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          library ? dlsym(library, name) : nullptr);
      if (!function) {
        std::printf("GpuSmoke: no %s\n", name);
        std::exit(1);
      }
    };
    find(driver.retain, "cuDevicePrimaryCtxRetain");
    find(driver.setCurrent, "cuCtxSetCurrent");
    find(driver.streamCreate, "cuStreamCreate");
    find(driver.streamDestroy, "cuStreamDestroy_v2");
    find(driver.beginCapture, "cuStreamBeginCapture_v2");
    find(driver.endCapture, "cuStreamEndCapture");
    find(driver.instantiate, "cuGraphInstantiateWithFlags");
    find(driver.graphLaunch, "cuGraphLaunch");
    find(driver.update, "cuGraphExecUpdate_v2");
    find(driver.graphDestroy, "cuGraphDestroy");
    find(driver.execDestroy, "cuGraphExecDestroy");
    find(driver.moduleLoad, "cuModuleLoadData");
    find(driver.moduleGetFunction, "cuModuleGetFunction");
    find(driver.launchKernel, "cuLaunchKernel");
    return driver;
  }
};

/// A stream of device 0's primary context, which is current where it is made.
class OwnStream {
public:
  OwnStream() {
    constexpr unsigned nonBlocking = 1;
    must(Driver::get().streamCreate(&stream.handle, nonBlocking));
  }
  OwnStream(const OwnStream &) = delete;
  OwnStream &operator=(const OwnStream &) = delete;
  ~OwnStream() { Driver::get().streamDestroy(stream.handle); }

  /// A driver call that has to work.
  static void must(int result) {
    if (result == 0)
      return;
    std::printf("GpuSmoke: CUDA error %d\n", result);
    std::exit(1);
  }

  MlaRuntimeStream stream = {nullptr, -1};
};

/// What a launch of `tickets` needs.
struct Draw {
  static constexpr uint32_t count = 2000;
  Buffer<uint32_t> drawn{count};
  uint32_t items = count;
  uint32_t spin = 500;

  int launch(MlaRuntimeKernel *kernel, const MlaRuntimeStream &stream,
             Message &message, uint32_t flags = 0) {
    return ::launch(kernel, 100000, 1, {&drawn.data, &items, &spin}, &stream,
                    flags | MLA_RUNTIME_LAUNCH_RESIDENT, message);
  }
  /// Whether each ticket was drawn `times` times.
  bool isRight(uint32_t times) {
    for (uint32_t n : drawn.toHost())
      if (n != times)
        return false;
    return true;
  }
};
} // namespace

constexpr int64_t slotBytes = 8;

static void makePrimaryContextCurrent() {
  void *context = nullptr;
  OwnStream::must(Driver::get().retain(&context, 0));
  OwnStream::must(Driver::get().setCurrent(context));
}

static void synchronize(const MlaRuntimeStream &stream) {
  Message message;
  need(mlaRuntimeSynchronize(&stream, message), message);
}

void checkSlots() {
  makePrimaryContextCurrent();
  MlaRuntimeKernel *kernel = load(kernels::tickets, "tickets", 0, slotBytes);
  constexpr int threadCount = 8, streamCount = 4, rounds = 25;
  std::vector<std::unique_ptr<OwnStream>> streams;
  std::vector<std::unique_ptr<Draw>> draws;
  for (int i = 0; i < streamCount; ++i)
    streams.push_back(std::make_unique<OwnStream>());
  for (int i = 0; i < threadCount; ++i)
    draws.push_back(std::make_unique<Draw>());

  std::vector<std::thread> threads;
  std::vector<int> results(threadCount);
  for (int i = 0; i < threadCount; ++i)
    threads.emplace_back([&, i] {
      // No context is current here: the stream's is enough.
      Message message;
      for (int round = 0; round < rounds; ++round)
        results[i] |= draws[i]->launch(
            kernel, streams[(i + round) % streamCount]->stream, message,
            round % 2 ? MLA_RUNTIME_LAUNCH_PROGRAMMATIC : 0);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (auto &stream : streams)
    synchronize(stream->stream);
  for (int i = 0; i < threadCount; ++i) {
    check(results[i] == 0, "tickets is launched by a thread");
    check(draws[i]->isRight(rounds), "each ticket is drawn once a launch");
  }
  mlaRuntimeFreeKernel(kernel);
}

/// Captures launches of `draws`, one after the other.
static void *capture(const OwnStream &stream, MlaRuntimeKernel *kernel,
                     std::vector<Draw *> draws) {
  constexpr int global = 0;
  Message message;
  OwnStream::must(Driver::get().beginCapture(stream.stream.handle, global));
  for (Draw *draw : draws)
    check(draw->launch(kernel, stream.stream, message) == 0,
          "tickets is captured", message.str());
  void *graph = nullptr;
  OwnStream::must(Driver::get().endCapture(stream.stream.handle, &graph));
  return graph;
}

/// Two graphs of one stream, replayed at once, beside launches on the stream.
static void checkReplay() {
  const Driver &driver = Driver::get();
  OwnStream captured, first, second;
  // Its image is new to the runtime: it is loaded while the stream captures.
  std::string text = kernels::tickets;
  text += "// loaded in a capture\n";
  MlaRuntimeKernel *kernel = load(text.c_str(), "tickets", 0, slotBytes);
  Draw a, b, c;
  void *graphs[] = {capture(captured, kernel, {&a, &b}),
                    capture(captured, kernel, {&c})};
  void *executables[2] = {};
  for (int i = 0; i < 2; ++i) {
    OwnStream::must(driver.instantiate(&executables[i], graphs[i], 0));
    // The executable keeps the slots.
    OwnStream::must(driver.graphDestroy(graphs[i]));
  }
  constexpr int rounds = 20;
  Draw eager;
  Message message;
  for (int round = 0; round < rounds; ++round) {
    OwnStream::must(driver.graphLaunch(executables[0], first.stream.handle));
    OwnStream::must(driver.graphLaunch(executables[1], second.stream.handle));
    check(eager.launch(kernel, captured.stream, message) == 0,
          "tickets is launched beside graphs", message.str());
  }
  for (OwnStream *stream : {&captured, &first, &second})
    synchronize(stream->stream);
  check(a.isRight(rounds) && b.isRight(rounds) && c.isRight(rounds) &&
            eager.isRight(rounds),
        "graphs replayed at once draw each ticket once");
  for (void *executable : executables)
    OwnStream::must(driver.execDestroy(executable));
  mlaRuntimeFreeKernel(kernel);
}

/// The address of the slot of a launch in `stream`, or of a captured one,
/// whose graph is destroyed again.
static uint64_t getSlot(MlaRuntimeKernel *kernel, const OwnStream &stream,
                        bool captured) {
  const Driver &driver = Driver::get();
  Buffer<uint64_t> where(1);
  Message message;
  if (captured)
    OwnStream::must(driver.beginCapture(stream.stream.handle, 0));
  int result = launch(kernel, 1, 1, {&where.data}, &stream.stream, 0, message);
  need(result, message);
  if (captured) {
    void *graph = nullptr, *executable = nullptr;
    OwnStream::must(driver.endCapture(stream.stream.handle, &graph));
    OwnStream::must(driver.instantiate(&executable, graph, 0));
    OwnStream::must(driver.graphLaunch(executable, stream.stream.handle));
    synchronize(stream.stream);
    OwnStream::must(driver.execDestroy(executable));
    OwnStream::must(driver.graphDestroy(graph));
  }
  synchronize(stream.stream);
  return where.toHost()[0];
}

static void checkWhoOwnsSlots() {
  OwnStream one, other;
  MlaRuntimeKernel *kernel = load(kernels::where, "where", 0, slotBytes);
  uint64_t ofOne = getSlot(kernel, one, false);
  check(ofOne % 256 == 0 && ofOne != 0, "a slot is aligned");
  check(getSlot(kernel, one, false) == ofOne, "a stream has one slot");
  check(getSlot(kernel, other, false) != ofOne, "streams have their own slots");
  // Each of CUDA's default streams.
  std::set<uint64_t> ofDefaults = {ofOne};
  for (uintptr_t number : {1, 2}) {
    Buffer<uint64_t> where(1);
    MlaRuntimeStream stream = {reinterpret_cast<void *>(number), -1};
    Message message;
    need(launch(kernel, 1, 1, {&where.data}, &stream, 0, message), message);
    synchronize(stream);
    ofDefaults.insert(where.toHost()[0]);
  }
  check(ofDefaults.size() == 3, "default streams have their own slots");
  // Graphs give slots back some time after they are destroyed: far fewer slots
  // than launches are used if they do.
  constexpr int launches = 3000;
  std::set<uint64_t> slots;
  for (int i = 0; i < launches; ++i)
    slots.insert(getSlot(kernel, one, true));
  check(slots.count(ofOne) == 0, "a captured launch has its own slot");
  check(slots.size() < launches / 2, "destroyed graphs give slots back",
        std::to_string(slots.size()) + " slots");
  mlaRuntimeFreeKernel(kernel);
}

/// An executable that was updated keeps the slots of the new graph, not only
/// those of the one it was made from.
static void checkUpdate() {
  const Driver &driver = Driver::get();
  OwnStream stream;
  MlaRuntimeKernel *kernel = load(kernels::where, "where", 0, slotBytes);
  Buffer<uint64_t> where(1);
  Message message;
  auto captureOne = [&] {
    OwnStream::must(driver.beginCapture(stream.stream.handle, 0));
    need(launch(kernel, 1, 1, {&where.data}, &stream.stream, 0, message),
         message);
    void *graph = nullptr;
    OwnStream::must(driver.endCapture(stream.stream.handle, &graph));
    return graph;
  };
  void *first = captureOne(), *second = captureOne(), *executable = nullptr;
  // CUgraphExecUpdateResultInfo: a number and two nodes.
  uint64_t result[3] = {};
  OwnStream::must(driver.instantiate(&executable, first, 0));
  OwnStream::must(driver.update(executable, second, result));
  OwnStream::must(driver.graphDestroy(first));
  OwnStream::must(driver.graphDestroy(second));
  OwnStream::must(driver.graphLaunch(executable, stream.stream.handle));
  synchronize(stream.stream);
  uint64_t used = where.toHost()[0];
  // Time for the driver to give the slots back, and launches to get them.
  bool shared = false;
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    shared |= getSlot(kernel, stream, true) == used;
  }
  check(!shared, "an updated executable keeps its slot");
  OwnStream::must(driver.execDestroy(executable));
  mlaRuntimeFreeKernel(kernel);
}

void checkGraphs() {
  checkReplay();
  checkUpdate();
  checkWhoOwnsSlots();
}

/// Prints what a launch costs the host, beside the driver's own.
void measureLaunches() {
  const Driver &driver = Driver::get();
  OwnStream stream;
  void *module = nullptr, *function = nullptr;
  OwnStream::must(driver.moduleLoad(&module, kernels::where));
  OwnStream::must(driver.moduleGetFunction(&function, module, "where"));
  MlaRuntimeKernel *kernel = load(kernels::where, "where", 0, slotBytes);
  Buffer<uint64_t> where(2);
  Buffer<uint16_t> tensor(4096);
  Message message;
  need(mlaRuntimePrepareKernel(kernel, &stream.stream, message), message);

  auto bare = [&] {
    void *arguments[] = {&where.data, &where.data};
    OwnStream::must(driver.launchKernel(function, 1, 1, 1, 1, 1, 1, 0,
                                        stream.stream.handle, arguments,
                                        nullptr));
  };
  auto ours = [&] {
    void *arguments[] = {&where.data};
    MlaRuntimeLaunchConfig config = {
        sizeof(config), &stream.stream, {1, 1, 1}, {1, 1, 1}, 0, 0};
    need(mlaRuntimeLaunch(kernel, &config, arguments, 1, message), message);
  };
  auto withMaps = [&] {
    int64_t shape[] = {64, 64};
    int32_t box[] = {64, 64};
    MlaRuntimeTensorMapSpec spec = {sizeof(spec),
                                    "tensor",
                                    tensor.data,
                                    MLA_RUNTIME_DTYPE_BF16,
                                    2,
                                    shape,
                                    nullptr,
                                    box,
                                    128,
                                    256,
                                    &stream.stream};
    for (int i = 0; i < 4; ++i) {
      MlaRuntimeTensorMap map;
      need(mlaRuntimeEncodeTensorMap(&spec, &map, message), message);
    }
    ours();
  };
  struct {
    const char *name;
    std::function<void()> run;
    double best;
  } ways[] = {{"cuLaunchKernel", bare, 1e9},
              {"mlaRuntimeLaunch with a slot", ours, 1e9},
              {"mlaRuntimeLaunch with four tensor maps", withMaps, 1e9}};
  // In turn, since clocks change; few enough launches not to fill the queue.
  constexpr int batch = 200, rounds = 30;
  for (int i = 0; i < rounds; ++i)
    for (auto &way : ways) {
      auto start = std::chrono::steady_clock::now();
      for (int j = 0; j < batch; ++j)
        way.run();
      std::chrono::duration<double, std::micro> time =
          std::chrono::steady_clock::now() - start;
      way.best = std::min(way.best, time.count() / batch);
      synchronize(stream.stream);
    }
  for (const auto &way : ways)
    std::printf("host time of %s: %.2f us\n", way.name, way.best);
  mlaRuntimeFreeKernel(kernel);
}
