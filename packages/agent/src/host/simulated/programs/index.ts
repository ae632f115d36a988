import { modulesFolder } from '../classes/driver.ts';
import { aptCache, aptGet, aptMark, dpkg, dpkgDeb } from './apt.ts';
import { containerd, crictl, ctr } from './containerd.ts';
import { crio } from './crio.ts';
import { df } from './df.ts';
import { dkms } from './dkms.ts';
import { docker, dockerd } from './docker.ts';
import { dpkgQuery } from './dpkg-query.ts';
import { dmesg, journalctl } from './kernel-log.ts';
import { k3s, kubectl, rke2 } from './kubernetes.ts';
import { modprobe, nvidiaModprobe, rm, rmmod } from './modules.ts';
import { nvidiaSmi } from './nvidia-smi.ts';
import { nvidiaContainerCli, nvidiaCtk } from './nvidia-toolkit.ts';
import { nvpmodel } from './nvpmodel.ts';
import { journalOfUnits } from './pods.ts';
import { complained, matches, type Program, printed } from './program.ts';
import { snap } from './snap.ts';
import { systemctl } from './systemctl.ts';
import { timedatectl } from './timedatectl.ts';

const modinfo: Program = (machine, args) => {
  if (!matches(args, '-F', 'version', 'nvidia')) return undefined;
  const hasModule = machine.files.has(`${modulesFolder(machine, machine.os.kernel)}/nvidia.ko`);
  return machine.driver && hasModule
    ? printed(`${machine.driver.onDisk}\n`)
    : complained('modinfo: ERROR: Module nvidia not found.\n');
};

const nvFabricmanager: Program = (machine, args) =>
  matches(args, '--version')
    ? printed(`\n\n\n\tFabric Manager version is : ${machine.versions.fabricManager}\n\n`)
    : undefined;

const uname: Program = (machine, args) => {
  if (matches(args, '-m')) return printed(`${machine.os.arch}\n`);
  return matches(args, '-r') ? printed(`${machine.os.kernel}\n`) : undefined;
};

/** By the name of the file that is run. */
export const programs: Record<string, Program> = {
  'apt-cache': aptCache,
  'apt-get': aptGet,
  'apt-mark': aptMark,
  containerd,
  crictl,
  crio,
  ctr,
  dmesg,
  docker,
  dockerd,
  df,
  dkms,
  dpkg,
  'dpkg-deb': dpkgDeb,
  'dpkg-query': dpkgQuery,
  timedatectl,
  journalctl: (machine, args) => journalctl(machine, args) ?? journalOfUnits(machine, args),
  k3s,
  kubectl,
  modinfo,
  modprobe,
  'nvidia-container-cli': nvidiaContainerCli,
  'nv-fabricmanager': nvFabricmanager,
  'nvidia-ctk': nvidiaCtk,
  'nvidia-modprobe': nvidiaModprobe,
  'nvidia-smi': nvidiaSmi,
  nvpmodel,
  rke2,
  snap,
  rm,
  rmmod,
  systemctl,
  uname,
};
