// Trees of real processes: what the ranks hand over arrives, whatever happens to nodes between.
#include "tared/tree/node.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "tared/filters/clock.h"
#include "tared/filters/tables.h"
#include "tared/tree/node_options.h"

namespace tare::tared {
namespace {

constexpr auto patience = std::chrono::seconds(60);

// Rounds [first, first + count) that all ranks are to offload, and a rank that leaves them out.
struct Order {
  std::uint64_t first;
  std::uint64_t count;
  std::uint64_t except_rank = UINT64_MAX;
};

double time_of(std::uint64_t round, std::uint32_t rank, std::uint32_t event) {
  return static_cast<double>(1000 * round + 10 * rank + event);
}

// Ranks of one node that offload what a command orders.
class OrderedRanks : public SnapshotSource {
 public:
  OrderedRanks(std::uint32_t first, std::uint32_t count, std::uint32_t events)
      : ranks_(RankSet::of_range(first, count)) {
    for (std::uint32_t event = 0; event < events; ++event) keys_.push_back(event + 1);
  }
  RankSet ranks() override { return ranks_; }
  std::size_t poll(SnapshotTaker& taker) override {
    std::size_t count = 0;
    if (!named_ && !ranks_.empty())
      for (const EventKey key : keys_) taker.name({key, "event " + std::to_string(key)});
    named_ = true;
    for (auto& [rank, rounds] : to_come_)
      while (!rounds.empty() && taker.wants(rank)) {
        std::vector<Metrics> values;
        for (std::uint32_t event = 0; event < keys_.size(); ++event)
          values.push_back({1, time_of(rounds.front(), rank, event), 8});
        taker.snapshot({rounds.front(), rank, realtime_ns(), keys_, values});
        rounds.pop_front();
        ++count;
      }
    return count;
  }
  void command(std::span<const std::byte> bytes) override {
    Reader in(bytes);
    const auto order = in.get<Order>();
    for (const auto& run : ranks_.runs())
      for (std::uint32_t rank = run.first; rank < run.first + run.count; ++rank)
        for (std::uint64_t i = 0; i < order.count && rank != order.except_rank; ++i)
          to_come_[rank].push_back(order.first + i);
  }

 private:
  RankSet ranks_;
  std::vector<EventKey> keys_;
  bool named_ = false;
  std::map<std::uint32_t, std::deque<std::uint64_t>> to_come_;
};

struct Seen {
  std::uint64_t round;
  RankSet ranks;
  RankSet lost;
  std::int64_t delay_ns;
  StatisticsTable table;
  std::string filter;
};

class WaitingSink : public RoundSink {
 public:
  void name(EventKey key, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    names_[key] = text;
  }
  void round(const Round& round) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_blocked_; });
    if (on_round) on_round(round.round);
    Seen seen{round.round, round.ranks, round.lost, round.delay_ns(), {}, std::string(round.filter)};
    Reader in(round.reduced);
    EXPECT_TRUE(round.filter != "statistics" || StatisticsTable::read(in, seen.table));
    seen_.push_back(std::move(seen));
    changed_.notify_all();
  }
  void lost_round(std::uint64_t /*round*/, const RankSet& /*lost*/) override {}

  std::function<void(std::uint64_t round)> on_round;  // in the thread of the node

  void block(bool is_blocked) {
    const std::lock_guard lock(mutex_);
    is_blocked_ = is_blocked;
    changed_.notify_all();
  }
  bool wait_until(const std::function<bool(const std::vector<Seen>&)>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return condition(seen_); });
  }
  bool wait_for(std::size_t rounds) {
    return wait_until([=](const auto& seen) { return seen.size() >= rounds; });
  }
  std::vector<Seen> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  std::map<EventKey, std::string> names() {
    const std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_blocked_ = false;
  std::vector<Seen> seen_;
  std::map<EventKey, std::string> names_;
};

// Node 0 is a thread of this process, the others are processes, each with `ranks_per_node` ranks.
class Tree : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "tare-node-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    std::string error;
    ASSERT_TRUE(make_run_key(directory_, error)) << error;
    options_.directory = directory_;
    options_.beat_ns = 50'000'000;
    options_.dead_after_ns = 1'000'000'000;
  }
  void start(std::uint32_t nodes, std::uint32_t fan_out, std::uint32_t ranks_per_node) {
    shape_ = TreeShape(nodes, fan_out);
    ranks_per_node_ = ranks_per_node;
    for (std::uint32_t node = 1; node < nodes; ++node) {
      processes_.push_back(fork());
      if (processes_.back() == 0) _exit(run_process(node));
    }
    source_ = std::make_unique<OrderedRanks>(0, ranks_per_node, events_);
    std::string error;
    root_ = Node::open(options_of(0), *source_, &sink_, error);
    ASSERT_NE(root_, nullptr) << error;
    thread_ = std::thread([this] { root_->run(); });
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!root_->is_formed() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    ASSERT_TRUE(root_->is_formed());
  }
  void TearDown() override {
    if (thread_.joinable()) end();
    std::filesystem::remove_all(directory_);
  }
  // All processes end by themselves, but those that the test has killed.
  void end() {
    sink_.block(false);
    root_->end();
    thread_.join();
    for (const pid_t process : processes_) {
      int status = 0;
      waitpid(process, &status, 0);
      EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    }
    processes_.clear();
  }
  NodeOptions options_of(std::uint32_t node) {
    NodeOptions options = options_;
    options.node = node;
    options.ancestors = shape_.ancestors(node);
    options.planned_children = shape_.children(node);
    return options;
  }
  int run_process(std::uint32_t node) {
    OrderedRanks source(node * ranks_per_node_, ranks_per_node_, events_);
    std::string error;
    const auto process = Node::open(options_of(node), source, nullptr, error);
    if (!process) return 1;
    process->run();
    return 0;
  }
  void order(const Order& order) { root_->command(std::as_bytes(std::span(&order, 1))); }
  RankSet all_ranks() const { return RankSet::of_range(0, shape_.nodes() * ranks_per_node_); }
  pid_t process(std::uint32_t node) const { return processes_.at(node - 1); }
  // Orders rounds one by one until one has these ranks.
  void expect_soon(const RankSet& ranks) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until) {
      order({next_round_, 1});
      const std::uint64_t round = next_round_++;
      ASSERT_TRUE(sink_.wait_until([=](const auto& seen) { return !seen.empty() && seen.back().round >= round; }));
      if (sink_.seen().back().ranks == ranks) return;
    }
    FAIL() << "no round has the ranks " << ranks.text() << ", the last one " << sink_.seen().back().ranks.text();
  }

  std::string directory_;
  NodeOptions options_;
  TreeShape shape_{1, 1};
  std::uint32_t ranks_per_node_ = 0;
  std::uint32_t events_ = 5;
  std::vector<pid_t> processes_;
  WaitingSink sink_;
  std::unique_ptr<OrderedRanks> source_;
  std::unique_ptr<Node> root_;
  std::thread thread_;
  std::uint64_t next_round_ = 0;
};

class AnyTree : public Tree, public ::testing::WithParamInterface<std::tuple<std::uint32_t, std::uint32_t, bool>> {};

TEST_P(AnyTree, BringsAllRoundsWhole) {
  const auto [nodes, fan_out, through_tcp] = GetParam();
  if (through_tcp) options_.listen = "127.0.0.1";
  start(nodes, fan_out, 3);
  constexpr std::uint64_t rounds = 100;
  order({0, rounds});
  ASSERT_TRUE(sink_.wait_for(rounds));
  const auto seen = sink_.seen();
  const RankSet all = all_ranks();
  const auto ranks = static_cast<double>(all.size());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    EXPECT_EQ(seen[round].round, round);
    EXPECT_EQ(seen[round].ranks, all);
    EXPECT_TRUE(seen[round].lost.empty());
    EXPECT_GT(seen[round].delay_ns, 0);
    ASSERT_EQ(seen[round].table.size(), events_);
    for (std::uint32_t event = 0; event < events_; ++event) {
      EXPECT_EQ(seen[round].table.least[event * metric_count + 1], time_of(round, 0, event));
      EXPECT_EQ(seen[round].table.most_rank[event * metric_count + 1], all.size() - 1);
      EXPECT_NEAR(seen[round].table.mean[event * metric_count + 1], time_of(round, 0, event) + 5 * (ranks - 1), 1e-6);
    }
  }
  EXPECT_EQ(sink_.names().size(), events_);
  EXPECT_EQ(sink_.names().at(1), "event 1");
  end();
  EXPECT_EQ(root_->counts().rounds.whole, rounds);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AnyTree,
                         ::testing::Values(std::tuple{1U, 1U, false}, std::tuple{3U, 1U, false},
                                           std::tuple{9U, 8U, true}, std::tuple{13U, 3U, false},
                                           std::tuple{7U, 2U, true}));

TEST_F(Tree, PacketsOfSeveralFramesArriveWhole) {
  events_ = 5000;
  options_.listen = "127.0.0.1";
  start(3, 1, 2);
  order({0, 10});
  ASSERT_TRUE(sink_.wait_for(10));
  for (const Seen& seen : sink_.seen()) {
    EXPECT_EQ(seen.ranks, all_ranks());
    ASSERT_EQ(seen.table.size(), events_);
    for (std::uint32_t event = 0; event < events_; ++event) {
      ASSERT_EQ(seen.table.least[event * metric_count + 1], time_of(seen.round, 0, event));
      ASSERT_EQ(seen.table.most[event * metric_count + 1], time_of(seen.round, 5, event));
    }
  }
}

TEST_F(Tree, ARankThatLeavesOutARoundIsTheOnlyOneMissing) {
  start(7, 2, 2);
  order({0, 3, 9});
  order({3, 1});
  ASSERT_TRUE(sink_.wait_for(4));
  for (const Seen& seen : sink_.seen()) EXPECT_EQ(seen.lost.text(), seen.round < 3 ? "9" : "");
}

TEST_F(Tree, AllNodesChangeTheFilterAtTheSameRound) {
  sink_.on_round = [this](std::uint64_t round) {
    std::string error;
    if (round == 4) {
      EXPECT_FALSE(root_->change_filter({1000, "medians"}, error));
      EXPECT_NE(error.find("medians"), std::string::npos);
      EXPECT_TRUE(root_->change_filter({1000, "none+groups"}, error)) << error;
    }
  };
  start(7, 2, 2);
  order({0, 20});
  ASSERT_TRUE(sink_.wait_for(20));
  order({990, 20});
  ASSERT_TRUE(sink_.wait_for(40));
  for (const Seen& seen : sink_.seen()) {
    EXPECT_EQ(seen.ranks, all_ranks()) << seen.round;
    EXPECT_EQ(seen.filter, seen.round < 1000 ? "statistics" : "none+groups");
  }
  sink_.on_round = nullptr;
}

// 0 has 1 and 2; 1 has 3 and 4; 2 has 5 and 6.
TEST_F(Tree, ChildrenOfADeadNodeFindTheirGrandparent) {
  options_.limits.patience_ns = 500'000'000;  // for those that are on the way to another parent
  start(7, 2, 1);
  expect_soon(all_ranks());
  kill(process(1), SIGKILL);
  RankSet rest = all_ranks();
  rest.remove(RankSet::of_range(1, 1));
  expect_soon(rest);
}

TEST_F(Tree, ANodeThatHangsIsLeftAndComesBack) {
  options_.limits.patience_ns = 500'000'000;
  start(7, 2, 1);
  expect_soon(all_ranks());
  kill(process(1), SIGSTOP);
  RankSet rest = all_ranks();
  rest.remove(RankSet::of_range(1, 1));
  expect_soon(rest);
  kill(process(1), SIGCONT);
  expect_soon(all_ranks());
}

TEST_F(Tree, NothingQueuesWhereTheRootIsSlow) {
  options_.limits.window = 4;
  start(4, 2, 2);
  sink_.block(true);
  constexpr std::uint64_t rounds = 200;
  order({0, rounds});
  sink_.block(false);
  ASSERT_TRUE(sink_.wait_for(rounds));
  for (const Seen& seen : sink_.seen()) EXPECT_EQ(seen.ranks, all_ranks());
  end();
  EXPECT_LE(root_->counts().max_under_way, 2U * options_.limits.window);
  EXPECT_EQ(root_->counts().rounds.late, 0U);
}

TEST_F(Tree, WhatIsThereWhenItEndsIsHandedOn) {
  start(4, 2, 2);
  order({0, 50});
  end();
  EXPECT_EQ(sink_.seen().size(), 50U);
}

// --- peers that are not of the run

// The most that was resident since the last call.
std::uint64_t max_resident_bytes() {
  std::ifstream file("/proc/self/status");
  std::uint64_t kib = 0;
  for (std::string word; file >> word;)
    if (word == "VmHWM:") file >> kib;
  std::ofstream("/proc/self/clear_refs") << "5";
  return kib << 10U;
}

// A connection that may still be being made.
int begin_connection(const std::string& endpoint, int flags = SOCK_NONBLOCK) {
  const std::size_t colon = endpoint.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(colon + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
  const int failed = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  EXPECT_TRUE(failed == 0 || (flags != 0 && errno == EINPROGRESS));
  return fd;
}

int connect_to(const std::string& endpoint) { return begin_connection(endpoint, 0); }

TEST_F(Tree, GarbageCostsNothing) {
  options_.listen = "127.0.0.1";
  start(3, 2, 1);
  const std::string endpoint = find_node(directory_, 0)->network;
  ASSERT_TRUE(endpoint.starts_with("tcp://127.0.0.1:"));
  expect_soon(all_ranks());
  max_resident_bytes();
  const std::uint64_t before = max_resident_bytes();
  // Silence; another protocol; greetings of ZMTP 3.1 with the mechanism NULL, and a frame of 8 EiB behind it, and with
  // the right one, and a command of 1 MiB that never ends; nonsense.
  const auto greeting = [](const std::string& mechanism) {
    std::string text = std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\1", 12) + mechanism;
    text.resize(64, '\0');
    return text;
  };
  const std::array<std::string, 5> said{
      "", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", greeting("NULL") + "\2\x7f\xff\xff\xff\xff\xff\xff\xff",
      greeting("CURVE") + std::string("\6\0\0\0\0\0\x10\0\0", 9) + std::string((1U << 20U) - 1, 'x'),
      std::string(100'000, '\xff')};
  std::vector<int> peers;
  for (int i = 0; i < 400; ++i) {
    peers.push_back(connect_to(endpoint));
    const std::string& text = said[static_cast<std::size_t>(i) % said.size()];
    [[maybe_unused]] const ssize_t sent = send(peers.back(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  for (int i = 0; i < 20; ++i) expect_soon(all_ranks());
  // All but the silent ones are hung up on.
  for (std::size_t i = 0; i < peers.size(); ++i) {
    std::array<char, 4096> heard{};
    while (!said[i % said.size()].empty() && recv(peers[i], heard.data(), heard.size(), 0) > 0) {
    }
  }
  EXPECT_LT(max_resident_bytes(), before + (std::uint64_t{48} << 20U));
  for (const int peer : peers) close(peer);
  expect_soon(all_ranks());
}

class StrangersOf : public Tree, public ::testing::WithParamInterface<const char*> {};

TEST_P(StrangersOf, AreNotHeardWithoutTheKey) {
  options_.listen = GetParam();
  start(2, 2, 1);
  expect_soon(all_ranks());
  const std::string network = find_node(directory_, 0)->network;
  const SocketDirectory sockets(directory_);
  const std::string endpoint = network.empty() ? sockets.endpoint(0) : network;
  char public_key[41];
  char secret_key[41];
  zmq_curve_keypair(public_key, secret_key);
  const auto key = *[this] {
    std::string error;
    return read_run_key(directory_, error);
  }();
  zmq::context_t context;
  for (const bool has_key_pair : {true, false}) {
    zmq::socket_t peer(context, zmq::socket_type::dealer);
    zmq::socket_t monitor(context, zmq::socket_type::pair);
    peer.set(zmq::sockopt::linger, 0);
    peer.set(zmq::sockopt::routing_id, "n1");  // it would take the place of a child
    if (has_key_pair) {
      peer.set(zmq::sockopt::curve_serverkey, key.public_key);  // which it may know
      peer.set(zmq::sockopt::curve_publickey, public_key);
      peer.set(zmq::sockopt::curve_secretkey, secret_key);
    }
    const std::string name = "inproc://monitor" + std::to_string(has_key_pair);
    ASSERT_EQ(zmq_socket_monitor(peer.handle(), name.c_str(),
                                 ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                                     ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                     ZMQ_EVENT_DISCONNECTED),
              0);
    monitor.connect(name);
    peer.connect(endpoint);
    Bytes bye;
    encode(Bye{}, bye);
    peer.send(zmq::buffer(bye.data(), bye.size()), zmq::send_flags::dontwait);
    zmq::message_t event;
    ASSERT_TRUE(monitor.recv(event));
    std::uint16_t number = 0;
    std::memcpy(&number, event.data(), sizeof number);
    EXPECT_NE(number, ZMQ_EVENT_HANDSHAKE_SUCCEEDED) << endpoint << " " << has_key_pair;
    zmq_socket_monitor(peer.handle(), nullptr, 0);
  }
  for (int i = 0; i < 5; ++i) expect_soon(all_ranks());
  end();
  EXPECT_GE(root_->counts().refused_peers, 1U);
}

INSTANTIATE_TEST_SUITE_P(Sockets, StrangersOf, ::testing::Values("", "127.0.0.1"));

// Few descriptors, for this process and for the nodes that it starts.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t count) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{count, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

// Connects as often as it can, up to `count` times at once, and says nothing. Ends when the test has seen enough.
pid_t flood(const std::string& endpoint, int count) {
  const pid_t process = fork();
  if (process != 0) return process;
  const rlimit many{static_cast<rlim_t>(count) + 64, static_cast<rlim_t>(count) + 64};
  setrlimit(RLIMIT_NOFILE, &many);
  alarm(60);
  for (int i = 0; i < count; ++i) begin_connection(endpoint);
  for (;;) pause();
}

TEST_F(Tree, AFloodOverTheNetworkLeavesDescriptors) {
  const FewDescriptors few(1024);
  options_.listen = "127.0.0.1";
  start(3, 2, 1);
  expect_soon(all_ranks());
  const std::string endpoint = find_node(directory_, 0)->network;
  const pid_t flooding = flood(endpoint, 3000);
  // As long as it takes until libzmq hangs up on the first of them, and a while more.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(8);
  std::ptrdiff_t most = 0;
  while (std::chrono::steady_clock::now() < until) {
    expect_soon(all_ranks());
    const auto open = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    most = std::max(most, open);
  }
  EXPECT_GT(most, 64) << "strangers were connected";
  EXPECT_LT(most, 768) << "and not as many as there is room for";
  kill(flooding, SIGKILL);
  waitpid(flooding, nullptr, 0);
  // A node that comes now is let in.
  expect_soon(all_ranks());
}

TEST_F(Tree, NoOtherUserReachesTheSocketsOfAMachine) {
  ASSERT_TRUE(make_meeting_place(directory_));
  start(2, 2, 1);
  expect_soon(all_ranks());
  EXPECT_EQ(find_node(directory_, 0)->network, "") << "there is nothing on the network";
  const auto mode = std::filesystem::status(directory_).permissions();
  EXPECT_EQ(mode & std::filesystem::perms(077), std::filesystem::perms::none);
  EXPECT_TRUE(std::filesystem::is_socket(directory_ + "/socket-0"));
  std::filesystem::permissions(directory_, std::filesystem::perms(0711));
  EXPECT_FALSE(make_meeting_place(directory_)) << "others could connect";
  std::filesystem::permissions(directory_, std::filesystem::perms(0700));
}

TEST(SocketDirectory, MayHaveALongPath) {
  std::string name = std::filesystem::temp_directory_path() / "tare-path-test-XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const std::string deep = name + "/" + std::string(200, 'd');
  std::filesystem::create_directory(deep);
  zmq::context_t context;
  zmq::socket_t server(context, zmq::socket_type::pair);
  zmq::socket_t client(context, zmq::socket_type::pair);
  server.bind(SocketDirectory(deep).endpoint(7));
  const SocketDirectory sockets(deep);
  client.connect(sockets.endpoint(7));
  client.send(zmq::str_buffer("hello"));
  zmq::message_t heard;
  ASSERT_TRUE(server.recv(heard));
  EXPECT_EQ(heard.to_string(), "hello");
  std::filesystem::remove_all(name);
}

TEST(RunKey, IsNotReadWhereOthersCould) {
  std::string name = std::filesystem::temp_directory_path() / "tare-key-test-XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  std::string error;
  const auto key = make_run_key(name, error);
  ASSERT_TRUE(key);
  EXPECT_EQ(make_run_key(name, error)->secret_key, key->secret_key) << "one run, one key";
  std::filesystem::permissions(name + "/key", std::filesystem::perms(0640));
  EXPECT_FALSE(read_run_key(name, error));
  EXPECT_NE(error.find("/key"), std::string::npos);
  std::filesystem::remove_all(name);
}

TEST(ClockOffset, IsThatOfTheQuickestExchange) {
  ClockOffset offset;
  EXPECT_FALSE(offset.is_known());
  // The parent's clock is 1000 ahead; the way there takes 10 to 100, the way back 10.
  offset.add(0, 1100, 1100, 110);
  EXPECT_EQ(offset.ahead_ns(), 1045);
  EXPECT_GE(offset.error_ns(), 45);
  offset.add(200, 1210, 1215, 225);
  EXPECT_EQ(offset.ahead_ns(), 1000);
  EXPECT_GE(offset.error_ns(), 10);
  offset.add(300, 1500, 1500, 700);
  EXPECT_EQ(offset.ahead_ns(), 1000);
  EXPECT_EQ(ClockOffset(true).ahead_ns(), 0);
}

TEST(TreeShape, KnowsParentsAndChildren) {
  for (const std::uint32_t nodes : {1U, 2U, 9U, 1000U})
    for (const std::uint32_t fan_out : {1U, 2U, 8U, 64U}) {
      const TreeShape shape(nodes, fan_out);
      std::uint32_t children = 0;
      for (std::uint32_t node = 0; node < nodes; ++node) {
        EXPECT_LE(shape.children(node), fan_out);
        children += shape.children(node);
        EXPECT_EQ(shape.ancestors(node).empty(), node == 0);
        if (node > 0) {
          EXPECT_EQ(shape.ancestors(node).back(), 0U);
        }
      }
      EXPECT_EQ(children, nodes - 1);
    }
  EXPECT_EQ(TreeShape(9, 8).depth(), 1U);
  EXPECT_EQ(TreeShape(1000, 10).depth(), 3U);
}

}  // namespace
}  // namespace tare::tared
