foreach(name driver_log errors log log_file log_line log_set overview pen progress report result running screen summary tries try_rows worker_logs)
  tm_unit_test(${name})
endforeach()
