--- What is not tested behind a relay (TM_RELAYED), and why: a whole spec, or cases by their names.
--- CMakeLists.txt registers no test for a spec whose value is the reason.
return {
  node_settings = "its settings choose the nodes",
  nodes = "its settings choose the nodes",
  nodes_attack = "its settings choose the nodes",
  nodes_beside = "its settings choose the nodes",
  nodes_count = "its settings choose the nodes",
  nodes_drain = "its settings choose the nodes",
  nodes_ends = "its settings choose the nodes",
  nodes_files = "its settings choose the nodes",
  nodes_models = "its settings choose the nodes",
  nodes_late = "its settings choose the nodes",
  nodes_probe = "its settings choose the nodes",
  nodes_resume = "its settings choose the nodes",
  nodes_sick = "its settings choose the nodes",
  nodes_reports = "its settings choose the nodes",
  nodes_wrong = "its settings choose the nodes",
  slurm = "its settings choose the nodes",
  slurm_allocation = "its settings choose the nodes",
  slurm_runs = "its settings choose the nodes",
  slurm_nodes = "its settings choose the nodes",
  slurm_control = "its settings choose the nodes",
  slurm_exec = "its settings choose the nodes",
  slurm_harm = "its settings choose the nodes",
  slurm_killed = "its settings choose the nodes",
  head = "it runs no job",
  try = "it runs no job",
  wrong_values = "it runs no job",
  causes = {
    ["a worker that dies by a signal is reported with the signal, the place and its last output"] =
      "on a node SIGUSR1 does not end a worker: Slurm sends it to ask the node to end",
  },
  logs = {
    ["the log folder of a step is appended to by a resumed job"] =
      "each session has a node, and so log folders, of its own",
  },
  status = {
    ["the command of a job is shown as it was typed, by status and jobs"] =
      "a relay needs options that the case did not type",
  },
}
