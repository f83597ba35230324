! Iterations until all ranks know the BOI of the monitored run that they are in, and its delay; prints both, and for
! profiles of a size that nothing is known of the BOI.
program asks
  use, intrinsic :: iso_c_binding, only: c_int32_t
  use mpi
  use tare
  implicit none
  type(tare_sweet_spot) :: spot, other
  integer :: error
  logical :: known, all_know, other_is_known
  call MPI_Init(error)
  all_know = .false.
  do while (.not. all_know)
    known = tare_find_sweet_spot(spot)
    known = known .and. spot%delay >= 0
    call MPI_Allreduce(known, all_know, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
    call sleep_shortly()
  end do
  other_is_known = tare_find_sweet_spot(other, 1000000_c_int32_t)
  print '(a,i0,1x,es24.16,1x,es24.16,1x,l1,1x,es12.4,1x,l1,1x,l1)', 'asked ', spot%events, spot%boi, spot%delay, &
    other_is_known, other%boi, spot%source == tare_spot_measured, other%source == tare_spot_unknown
  call MPI_Finalize(error)
contains
  subroutine sleep_shortly()
    use, intrinsic :: iso_c_binding, only: c_int
    interface
      function usleep(us) bind(c, name="usleep") result(failed)
        import :: c_int
        integer(c_int), value :: us
        integer(c_int) :: failed
      end function
    end interface
    integer(c_int) :: failed
    failed = usleep(1000_c_int)
  end subroutine
end program
