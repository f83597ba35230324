#include "tared/tree/listen.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstring>

namespace tare::tared {

namespace {

struct Network {
  int family = AF_UNSPEC;
  std::array<unsigned char, sizeof(in6_addr)> address{};
  unsigned bits = 0;
};

bool read_network(const std::string& text, Network& network) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  const std::string address = text.substr(0, slash);
  network.family = address.find(':') == std::string::npos ? AF_INET : AF_INET6;
  if (inet_pton(network.family, address.c_str(), network.address.data()) != 1) return false;
  const char* end = text.data() + text.size();
  const auto [at, fault] = std::from_chars(text.data() + slash + 1, end, network.bits);
  return fault == std::errc{} && at == end && network.bits <= (network.family == AF_INET ? 32U : 128U);
}

bool is_in(const unsigned char* address, const Network& network) {
  const unsigned bytes = network.bits / 8;
  const unsigned left = network.bits % 8;
  if (std::memcmp(address, network.address.data(), bytes) != 0) return false;
  return left == 0 || (address[bytes] ^ network.address.at(bytes)) >> (8 - left) == 0;
}

const unsigned char* bytes_of(const sockaddr* address) {
  if (address->sa_family == AF_INET)
    return reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
  return reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

}  // namespace

std::string address_to_bind(const std::string& text) {
  if (text.find('/') == std::string::npos) return text;
  Network network;
  ifaddrs* all = nullptr;
  if (!read_network(text, network) || getifaddrs(&all) != 0) return "";
  std::string found;
  for (const ifaddrs* one = all; one != nullptr && found.empty(); one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != network.family) continue;
    const unsigned char* bytes = bytes_of(one->ifa_addr);
    std::array<char, INET6_ADDRSTRLEN> name{};
    if (is_in(bytes, network) && inet_ntop(network.family, bytes, name.data(), name.size()) != nullptr)
      found = network.family == AF_INET ? name.data() : "[" + std::string(name.data()) + "]";
  }
  freeifaddrs(all);
  return found;
}

std::string all_addresses() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return "no address that can be listed";
  std::string text;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6))
      continue;
    std::array<char, INET6_ADDRSTRLEN> name{};
    if (inet_ntop(one->ifa_addr->sa_family, bytes_of(one->ifa_addr), name.data(), name.size()) == nullptr) continue;
    text += (text.empty() ? "" : ", ") + std::string(one->ifa_name) + " (" + name.data() + ")";
  }
  freeifaddrs(all);
  return text.empty() ? "none" : text;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address.starts_with("[::1]") || address == "lo" || address == "localhost";
}

}  // namespace tare::tared
