tm_unit_test(agent)
tm_unit_test(agent_message)
tm_unit_test(agent_interrupt)
tm_unit_test(profile)
