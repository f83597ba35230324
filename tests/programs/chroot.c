/* chroot DIRECTORY CALLS [close]: changes its root after MPI_Init, then makes so many barriers. With `close` it closes
 * all descriptors that MPI has not opened before, as daemons do, opens a file of its own with each of the numbers, and
 * looks at the end whether anything else was written there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most = 4096 };

int main(int argc, char** argv) {
  static char open_before[most];
  static int own[most];
  int count = 0;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int fd = 0; fd < most; ++fd) open_before[fd] = fcntl(fd, F_GETFD) >= 0;
  if (chroot("/no/such/directory") == 0 || chroot(argv[1]) != 0 || chdir("/") != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  if (argc > 3) {
    for (int fd = 3; fd < most; ++fd) {
      if (open_before[fd] || fcntl(fd, F_GETFD) < 0) continue;
      char name[32];
      snprintf(name, sizeof name, "/own-%d-%d", (int)getpid(), fd);
      const int file = open(name, O_RDWR | O_CREAT, 0600);
      if (file < 0 || dup2(file, fd) != fd) MPI_Abort(MPI_COMM_WORLD, 3);
      close(file);
      own[count++] = fd;
    }
  }
  for (int i = 0; i < atoi(argv[2]); ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    struct stat status;
    if (fstat(own[i], &status) != 0 || status.st_size != 0) MPI_Abort(MPI_COMM_WORLD, 4);
  }
  MPI_Finalize();
  return 0;
}
