/** What the running kernel says of itself. */

/** Its modules, one a line; a kernel that cannot load any has no such file. */
export const modulesFile = '/proc/modules';
export const kernelReleaseFile = '/proc/sys/kernel/osrelease';
