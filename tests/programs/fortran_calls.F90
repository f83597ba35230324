! fortran_calls: a known number of MPI calls from Fortran; 2 ranks; prints "ok". Through `use mpi`, `use mpi_f08` or
! mpif.h, as -DUSE_MPI or -DUSE_MPI_F08 says. For "expect" see c_calls.c. Compile with -ffree-line-length-none and, for
! mpif.h, -fallow-argument-mismatch.
! (errors go to an array element: gfortran 12 gives a call the line of the end of the program when a whole variable is
! passed to an intent(out) argument, in its own debug information.)
! (Open MPI's Fortran layer calls MPI_Comm_size for its own use too.)
program fortran_calls
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: dp = kind(0.0d0)
  double precision :: outgoing(1000), incoming(1000), start
  integer :: rank, ranks, peer, error(1), i, counts(2), displacements(2)
#if defined(USE_MPI_F08)
  type(MPI_Request) :: requests(8)
  type(MPI_Status) :: status, statuses(8)
  type(MPI_Comm) :: copy
  type(MPI_Datatype) :: column
#else
  integer :: requests(8), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 8)
  integer :: copy, column
#endif

  outgoing = 1.0_dp
  incoming = 0.0_dp
  start = 0.0_dp
  call MPI_Init(error(1)) ! expect: MPI_Init calls=1
  do i = 1, 3
     call MPI_Comm_rank(MPI_COMM_WORLD, rank, error(1)) ! expect: MPI_Comm_rank calls=3 lookup
  end do
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error(1)) ! expect: MPI_Comm_size calls=1+ lookup
  if (ranks /= 2) stop 1
  peer = 1 - rank
  counts = 30
  displacements = (/ 0, 30 /)
  do i = 1, 4
     start = MPI_Wtime() ! expect: MPI_Wtime calls=4 lookup
  end do

  if (rank == 0) then
     do i = 1, 10
        call MPI_Send(outgoing, 100, MPI_DOUBLE_PRECISION, peer, 1, MPI_COMM_WORLD, error(1)) ! expect: MPI_Send calls=10 bytes=8000 rank=0
     end do
  else
     do i = 1, 10
        call MPI_Recv(incoming, 1000, MPI_DOUBLE_PRECISION, peer, 1, MPI_COMM_WORLD, status, error(1)) ! expect: MPI_Recv calls=10 bytes=8000 rank=1
     end do
  end if
  call MPI_Send(outgoing, 10, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 1, MPI_COMM_WORLD, error(1)) ! expect: MPI_Send calls=1 bytes=0
  do i = 1, 5
     call MPI_Sendrecv(outgoing, 10, MPI_DOUBLE_PRECISION, peer, 2, incoming, 1000, MPI_DOUBLE_PRECISION, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error(1)) ! expect: MPI_Sendrecv calls=5 bytes=400
  end do

  do i = 1, 4
     call MPI_Irecv(incoming(100*i), 100, MPI_DOUBLE_PRECISION, peer, i, MPI_COMM_WORLD, requests(i), error(1)) ! expect: MPI_Irecv calls=4 bytes=1600
  end do
  do i = 1, 4
     call MPI_Isend(outgoing, 50, MPI_DOUBLE_PRECISION, peer, i, MPI_COMM_WORLD, requests(4 + i), error(1)) ! expect: MPI_Isend calls=4 bytes=1600
  end do
  call MPI_Waitall(8, requests, statuses, error(1)) ! expect: MPI_Waitall calls=1 bytes=0 completes=1600
  call MPI_Irecv(incoming, 100, MPI_DOUBLE_PRECISION, peer, 7, MPI_COMM_WORLD, requests(1), error(1)) ! expect: MPI_Irecv calls=1 bytes=24
  call MPI_Isend(outgoing, 3, MPI_DOUBLE_PRECISION, peer, 7, MPI_COMM_WORLD, requests(2), error(1)) ! expect: MPI_Isend calls=1 bytes=24
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error(1)) ! expect: MPI_Waitall calls=1 bytes=0 completes=24
  call MPI_Irecv(incoming, 100, MPI_DOUBLE_PRECISION, peer, 8, MPI_COMM_WORLD, requests(1), error(1)) ! expect: MPI_Irecv calls=1 bytes=16
  call MPI_Send(outgoing, 2, MPI_DOUBLE_PRECISION, peer, 8, MPI_COMM_WORLD, error(1)) ! expect: MPI_Send calls=1 bytes=16
  call MPI_Wait(requests(1), status, error(1)) ! expect: MPI_Wait calls=1 bytes=0 completes=16

  do i = 1, 7
     call MPI_Barrier(MPI_COMM_WORLD, error(1)) ! expect: MPI_Barrier calls=7 bytes=0
  end do
  do i = 1, 5
     call MPI_Bcast(incoming, 10, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error(1)) ! expect: MPI_Bcast calls=5 bytes=400
  end do
  call MPI_Allreduce(outgoing, incoming, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error(1)) ! expect: MPI_Allreduce calls=1 bytes=32
  call MPI_Allreduce(MPI_IN_PLACE, incoming, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error(1)) ! expect: MPI_Allreduce calls=1 bytes=32
  call MPI_Reduce(outgoing, incoming, 6, MPI_DOUBLE_PRECISION, MPI_SUM, 1, MPI_COMM_WORLD, error(1)) ! expect: MPI_Reduce calls=1 bytes=48
  call MPI_Gather(outgoing, 20, MPI_DOUBLE_PRECISION, incoming, 20, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error(1)) ! expect: MPI_Gather calls=1 bytes=160
  call MPI_Alltoall(outgoing, 13, MPI_DOUBLE_PRECISION, incoming, 13, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error(1)) ! expect: MPI_Alltoall calls=1 bytes=208
  call MPI_Allgatherv(outgoing, 30, MPI_DOUBLE_PRECISION, incoming, counts, displacements, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error(1)) ! expect: MPI_Allgatherv calls=1 bytes=240
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, error(1)) ! expect: MPI_Comm_dup calls=1
  call MPI_Ibcast(incoming, 10, MPI_DOUBLE_PRECISION, 0, copy, requests(1), error(1)) ! expect: MPI_Ibcast calls=1 bytes=80
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error(1)) ! expect: MPI_Wait calls=1 bytes=0
  call MPI_Type_vector(4, 2, 10, MPI_DOUBLE_PRECISION, column, error(1)) ! expect: MPI_Type_vector calls=1
  call MPI_Type_commit(column, error(1)) ! expect: MPI_Type_commit calls=1
  call MPI_Bcast(incoming, 2, column, 0, copy, error(1)) ! expect: MPI_Bcast calls=1 bytes=128
  call MPI_Type_free(column, error(1)) ! expect: MPI_Type_free calls=1
  call MPI_Comm_free(copy, error(1)) ! expect: MPI_Comm_free calls=1
  if (rank == 0 .and. start > 0.0_dp) print '(A)', 'ok'
  call MPI_Finalize(error(1)) ! expect: MPI_Finalize calls=1
end program fortran_calls
