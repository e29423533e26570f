/* group.h - the control groups of this process, and those above them: a group's limit holds for all beneath it.
 *
 * Version 2 has one hierarchy; version 1 has one for each controller, mounted under its name or with others ("cpu,cpuacct").
 * In a container the path in /proc/self/cgroup may be the host's, while the mount shows the container's own group as the root:
 * what is not there is passed over, and the way up ends at the mount.
 */
#ifndef TM_SYS_GROUP_H
#define TM_SYS_GROUP_H

#include <stdbool.h>
#include <stddef.h>

/* True: it had what was looked for. */
typedef bool (*tm_on_group)(void *data, const char *dir, bool version2);
/* The groups that hold for `controller`, from the process's own upwards. `groups`: the text of /proc/self/cgroup; `root`: where
 * the hierarchies are mounted ("/sys/fs/cgroup"). */
void tm_group_walk(const char *groups, const char *root, const char *controller,
                   tm_on_group on_group, void *data);
/* The beginning of a group's file, as a string. */
bool tm_group_read(const char *dir, const char *name, char *out, size_t out_len);

#endif
