! Regions, counters, markers, phases and events from Fortran: `events [directory of a run of its own]`.
program events
  use tare
  use, intrinsic :: iso_c_binding, only: c_int64_t
  implicit none
  integer(tare_id) :: iterate, solve, memory, restart, step, sizes, text
  character(len=1024) :: directory
  character(len=20) :: name = "solve"
  integer :: i

  call get_command_argument(1, directory)
  if (directory /= " ") then
    if (tare_start(directory) /= 0) error stop "the run directory cannot be made"
  end if
  iterate = tare_define_phase("iterate")
  solve = tare_define_region(name)
  memory = tare_define_counter("memory", "bytes")
  restart = tare_define_marker("restart")
  step = tare_define_event("step", "id")
  sizes = tare_define_packed("sizes")
  text = tare_define_raw("log")

  call tare_begin_phase(iterate)
  do i = 0, 2
    call tare_enter(solve)
    call tare_count(memory, 1024d0*i)
    call tare_record(step, -i, 0.5d0*i)
    call tare_record(sizes, 1, 1000, -1_c_int64_t)
    call tare_leave(solve)
  end do
  call tare_mark(restart)
  call tare_record_raw(text, "converged   ")
  call tare_pause()
  call tare_mark(restart)                                  ! not recorded
  call tare_resume()
  call tare_end_phase(iterate)
  call tare_flush()                                        ! the buffer of the trace is written now
  if (tare_recording()) then
    print '(a)', "recorded"
  else
    print '(a)', "not recorded"
  end if
end program
