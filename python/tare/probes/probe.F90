! Makes a known number of calls of each kind: through the module mpi_f08 (USE_F08), the module mpi (USE_MPI), or mpif.h.
program probe
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer :: rank, nranks, next, previous, i, ierror
  double precision :: mine, total, other
  mine = 1
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierror)
  next = mod(rank + 1, nranks)
  previous = mod(rank + nranks - 1, nranks)
  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  do i = 1, 5
    call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  end do
  do i = 1, 7
    call MPI_Sendrecv(mine, 1, MPI_DOUBLE_PRECISION, next, 0, other, 1, MPI_DOUBLE_PRECISION, previous, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end do
  call MPI_Finalize(ierror)
  if (total /= nranks .or. other /= 1) stop 9
end program
