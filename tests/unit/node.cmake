tm_unit_test(keeper)
tm_unit_test(keeper_watch)
tm_unit_test(node_message)
tm_unit_test(worker_page)
