const noRunc =
  'containerd 1.x drops its built-in runc as soon as any runtime is stated: we write a table for it, nvidia-ctk does not, and CRI does not load';

/** Where the outcome is another than nvidia-ctk's on purpose: by the case's number, why. A case of neither table is the same. */
export const deviations: Record<string, string> = {
  '003': 'dockerd takes a blank daemon.json for no settings',
  '007': 'an entry that a person gave a path and arguments keeps them',
  '013': 'the other features stay, nvidia-ctk drops them',
  '019': 'dockerd takes null for no settings; nvidia-ctk ends in a panic',
  '025': 'dockerd takes a byte order mark',
  '027': 'dockerd refuses a file with data after the first value; nvidia-ctk drops that data',
  '029': 'of a key that is given twice either one may count: a person says which',
  '037': 'whether a relative path leads to a program cannot be checked',
  '045': noRunc,
  '047': `${noRunc}; the comments stay`,
  '049': 'runc stays as a handler: pods that name it would have none',
  '057': noRunc,
  '059':
    'containerd 1.x refuses an import that is not there, before and after; what it is to be is for a person to say',
  '061': 'containerd refuses this list of imports, before and after; nvidia-ctk writes it anew',
  '063':
    'CRI is disabled and nothing would come of it: with `enableCri` the job does both. nvidia-ctk writes a file that nobody reads',
  '065': 'CRI is disabled and nothing would come of it: with `enableCri` the job does both',
  '067': 'nvidia-ctk overwrites what it has just written, and loses the runtime',
  '071': 'the entry that is there is kept with its path and its options, and the default runtime with it',
  '073': noRunc,
  '077': 'containerd 1.x does not read a file of version 3: nothing would come of it, and 1.7 does not start with it',
  '079': 'no containerd of these reads a file of version 4',
  '083': 'the runtime goes where the release reads it in a file of version 2 that has tables of version 3 as well',
  '089': `${noRunc}; the line ends stay`,
  '091': `${noRunc}; numbers keep their spelling`,
  '093': `${noRunc}; texts keep their spelling`,
  '095': noRunc,
  '097': noRunc,
  '101': 'containerd refuses the file, before and after',
  '107': 'nvidia-ctk takes the version from a dump of another containerd: its drop-in is not read by 1.6 and stops 1.7',
  '115': 'nvidia-ctk was pointed at files that k3s does not read; for k3s there is `runtime: k3s`',
  '121': 'an entry that a person gave a path keeps it',
  '125': 'nvidia-ctk replaces crio.conf by its own few lines; we never touch it',
};

/** About nvidia-ctk's own flags and commands, or a reader without rights: there is nothing to compare. */
export const notCompared: Record<string, string> = {
  '035': 'read by a user without rights',
  '039': 'a flag that nvidia-ctk refuses',
  '069': 'a flag that nvidia-ctk refuses',
  '103': 'prints and writes nothing',
  '111': 'the program that it asks is not there',
  '113': 'a flag that nvidia-ctk refuses',
  '127': 'names an engine that neither knows',
  '131': 'prints a hook for podman and writes nothing',
};
