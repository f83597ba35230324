! usage: steered FILE : as steered.c, in Fortran. Prints what each message is.
program steered
  use mpi
  use tare
  use, intrinsic :: iso_c_binding, only: c_int64_t
  implicit none
  type(tare_control_message) :: message
  character(32) :: name
  character(72) :: text
  character(4096) :: file
  logical :: seen, all_see
  integer :: error, rank
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_command_argument(1, file)
  all_see = .false.
  do while (.not. all_see)
    inquire (file=trim(file), exist=seen)
    call MPI_Allreduce(seen, all_see, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
    call tare_offload()
    do while (tare_control(message, name, text))
      select case (message%type)
      case (tare_control_integer)
        write (*, "(i0,1x,a,1x,i0)") rank, trim(name), message%integer
      case (tare_control_real)
        write (*, "(i0,1x,a,1x,f0.3)") rank, trim(name), message%real
      case (tare_control_text)
        write (*, "(i0,1x,a,1x,a)") rank, trim(name), trim(text)
      end select
      flush (6)
    end do
    call sleep_a_little()
  end do
  call MPI_Finalize(error)
contains
  subroutine sleep_a_little()
    integer(c_int64_t) :: from, now, rate
    call system_clock(from, rate)
    do
      call system_clock(now)
      if (now - from > rate / 500) exit
    end do
  end subroutine
end program
