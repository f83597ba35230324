// cxx_calls: MPI calls from C++, in a template, a lambda, a constructor and a destructor, of known
// number and from known lines; 2 ranks; prints "ok". For "expect" see c_calls.c.
// An expectation stands on the very line of its calls, so these lines stay as they are.
// clang-format off
#include <mpi.h>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <vector>

namespace {

struct Session {
    Session(int *argc, char ***argv) { MPI_Init(argc, argv); } // expect: MPI_Init calls=1
    ~Session() { MPI_Finalize(); } // expect: MPI_Finalize calls=1
};

template <typename T> struct MpiType;
template <> struct MpiType<double> { static MPI_Datatype get() { return MPI_DOUBLE; } };
template <> struct MpiType<int> { static MPI_Datatype get() { return MPI_INT; } };

template <typename T> std::vector<T> swap_with(int peer, const std::vector<T> &mine)
{
    std::vector<T> theirs(mine.size());
    const int count = static_cast<int>(mine.size());
    MPI_Sendrecv(mine.data(), count, MpiType<T>::get(), peer, 1, theirs.data(), count, MpiType<T>::get(), peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // expect: MPI_Sendrecv calls=5 bytes=2800
    return theirs;
}

class Message {
public:
    Message(int peer, int tag) : buffer_(20)
    {
        MPI_Irecv(buffer_.data(), 20, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &request_); // expect: MPI_Irecv calls=6 bytes=480
    }
    Message(const Message &) = delete;
    Message &operator=(const Message &) = delete;
    ~Message()
    {
        MPI_Wait(&request_, MPI_STATUS_IGNORE); // expect: MPI_Wait calls=6 bytes=0 completes=480
    }

private:
    std::vector<double> buffer_;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace

int main(int argc, char **argv)
{
    const Session session(&argc, &argv);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); // expect: MPI_Comm_rank calls=1 lookup
    MPI_Comm_size(MPI_COMM_WORLD, &size); // expect: MPI_Comm_size calls=1 lookup
    const int peer = 1 - rank;

    // 2 times 100 doubles, 3 times 100 ints
    for (int i = 0; i < 2; i++) swap_with(peer, std::vector<double>(100, rank));
    for (int i = 0; i < 3; i++) swap_with(peer, std::vector<int>(100, rank));

    std::vector<int> tags(6);
    std::iota(tags.begin(), tags.end(), 0);
    std::for_each(tags.begin(), tags.end(), [&](int tag) {
        const Message message(peer, tag);
        const std::vector<double> values(10, 1.0);
        MPI_Send(values.data(), 10, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD); // expect: MPI_Send calls=6 bytes=480
    });

    std::vector<MPI_Request> requests(8);
    std::vector<double> in(400), out(400, 1.0);
    for (int i = 0; i < 4; i++) MPI_Irecv(&in[100 * i], 100, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &requests[i]); // expect: MPI_Irecv calls=4 bytes=3200
    for (int i = 0; i < 4; i++) MPI_Isend(&out[100 * i], 100, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &requests[4 + i]); // expect: MPI_Isend calls=4 bytes=3200
    MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE); // expect: MPI_Waitall calls=1 bytes=0 completes=3200

    const auto sum = [&](double value) {
        double all = 0;
        MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // expect: MPI_Allreduce calls=3 bytes=24
        return all;
    };
    const double total = sum(1) + sum(2) + sum(3);
    for (int i = 0; i < 4; i++) MPI_Bcast(out.data(), 50, MPI_DOUBLE, 0, MPI_COMM_WORLD); // expect: MPI_Bcast calls=4 bytes=1600
    MPI_Barrier(MPI_COMM_WORLD); // expect: MPI_Barrier calls=1 bytes=0
    if (size != 2 || total != 12) return 1;
    if (rank == 0) std::cout << "ok" << std::endl;
    return 0;
}
