# The pages of the manual: NAME is NAME.md here, `tidemill help NAME` and tidemill-NAME(7). The
# README of this folder lists them.
set(tm_manual_pages
  archives
  changes
  datasets
  embedding
  jobs
  map
  migrating
  models
  nodes
  outputs
  pipelines
  portal
  promises
  prompt
  report
  reuse
  tables
  troubleshooting)
