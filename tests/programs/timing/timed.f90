! timed: begins and ends MPI through the module MODULE, with half a second between.
program timed
  use MODULE
  implicit none
  integer :: error
  call MPI_Init(error)
  call execute_command_line("sleep 0.2")
  call MPI_Finalize(error)
end program timed
