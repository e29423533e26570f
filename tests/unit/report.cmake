foreach(name driver_log errors log log_file overview pen progress report result screen summary tries worker_logs)
  tm_unit_test(${name})
endforeach()
