! A ring of messages for 4 s, by Fortran's functions: a program to weigh tools with.
program weighed
  use mpi
  implicit none
  integer :: ierr, rank, size, i, all, goes, requests(2), statuses(MPI_STATUS_SIZE, 2), next, last
  double precision :: until, computed
  integer :: outgoing(8), incoming(8)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  next = mod(rank + 1, size); last = mod(rank + size - 1, size)
  until = MPI_Wtime() + 4
  i = 0
  do
    i = i + 1
    computed = MPI_Wtime() + 5d-6
    do while (MPI_Wtime() < computed)
    end do
    call MPI_Irecv(incoming, 8, MPI_INTEGER, last, 0, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(outgoing, 8, MPI_INTEGER, next, 0, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, statuses, ierr)
    if (mod(i, 200) == 0) then
      goes = merge(1, 0, MPI_Wtime() < until)
      call MPI_Allreduce(goes, all, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, ierr)
      if (all == 0) exit
    end if
  end do
  call MPI_Finalize(ierr)
end program
