/* group.h - the control groups of this process and those above them. A group's limit holds for all
 * groups beneath it.
 *
 * Version 2 has one hierarchy. Version 1 has one for each controller, mounted under its name or
 * together with others ("cpu,cpuacct"). In a container, the path in /proc/self/cgroup may be the
 * host's, while the mount shows the container's own group as the root: groups that do not exist are
 * skipped, and the walk up ends at the mount.
 */
#ifndef TM_SYS_MACHINE_GROUP_H
#define TM_SYS_MACHINE_GROUP_H

#include <stdbool.h>
#include <stddef.h>

/* Called for each group. Returns true if the group has what the caller looks for. */
typedef bool (*tm_on_group)(void *data, const char *dir, bool version2);
/* Visits the groups of `controller`, from the process's own upwards. `groups`: the text of
 * /proc/self/cgroup; `root`: where the hierarchies are mounted ("/sys/fs/cgroup"). */
void tm_group_walk(const char *groups, const char *root, const char *controller,
                   tm_on_group on_group, void *data);
/* Reads the beginning of a group's file, as a string. */
bool tm_group_read(const char *dir, const char *name, char *out, size_t out_len);

#endif
