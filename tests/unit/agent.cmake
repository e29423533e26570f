tm_unit_test(agent)
tm_unit_test(agent_message)
