/** Where a person puts units and drop-ins: they win over those of packages. */
export const localUnitFolder = '/etc/systemd/system';

/** Folders of units, by precedence: a unit file or a drop-in of the same name hides those of later folders. */
export const unitFolders = [
  localUnitFolder,
  '/run/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
] as const;

/** Where a service looks for programs that are named without a folder, unless its unit says otherwise. */
export const servicePath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
