tm_unit_test(workspace)
tm_unit_test(jobs)
