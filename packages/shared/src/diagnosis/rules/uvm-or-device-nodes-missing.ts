import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { isDriverOfContainer, runningKernel } from '../driver-questions.ts';
import { sources } from '../sources.ts';

type Evidence = Found['evidence'];

export const uvmOrDeviceNodesMissing = defineRule({
  code: 'UVM_OR_DEVICE_NODES_MISSING',
  layer: 'device_nodes',
  severity: 'blocker',
  title:
    'The nvidia module is loaded; nvidia_uvm is not, or a node of a GPU, of unified memory or of the control device is missing or has a number of another boot (read before nvidia-smi runs)',
  notWhen: 'Tegra; a driver container makes the nodes below its own root; a host that only lends vGPUs to guests',
  proposes: ['load_modules'],
  needs: ['pci', 'driver', 'device_nodes', 'os'],
  onTegra: 'never',
  consequenceOf: [
    'DRIVER_NOT_LOADED',
    'DRIVER_BRANCH_UNSUPPORTED_GPU',
    'DRIVER_FLAVOUR_UNSUPPORTED',
    'GPU_INIT_FAILED',
    'GPU_OFF_BUS',
    'DRIVER_MODULE_BLOCKED',
    'DRIVER_MODULE_NOT_BUILT',
    'DRIVER_LIBRARY_MISMATCH',
    'DRIVER_PACKAGES_INCONSISTENT',
  ],
  excludedBy: ({ pci, driver, os }) =>
    (pci !== null && !pci.gpus.some((gpu) => gpu.driver === 'nvidia')) ||
    (driver !== null && !isConcerned(driver)) ||
    (os?.insideContainer === true && !isWholeSystem(os)),
  check({ pci, driver, device_nodes, os }, asked) {
    const unread = asked.unread('device_nodes', 'nodes') ?? asked.unread('device_nodes', 'gpuMinors');
    if (unread) return { cannotTell: `the device nodes could not be read: ${unread}` };
    const uvmLoaded = driver.modules.includes('nvidia_uvm');
    const evidence: Evidence = [
      ...(uvmLoaded ? [] : [{ source: sources.modules, quote: 'nvidia, and no nvidia_uvm' }]),
      ...missingNodes(device_nodes, pci),
    ];
    if (evidence.length === 0) return [];
    const noFile = !uvmLoaded && runningKernel(driver)?.modules.includes('nvidia_uvm') === false;
    const isGuest = os.insideContainer;
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: uvmLoaded
          ? 'Device nodes of the GPU are missing or stale: CUDA cannot open the device'
          : 'The module nvidia_uvm is not loaded: nvidia-smi works, CUDA does not',
        evidence,
        remedy:
          isGuest || noFile
            ? null
            : { jobs: [{ kind: 'load_modules', params: { modules: ['nvidia', 'nvidia_uvm'] } }], approval: 'auto' },
        person: isGuest
          ? 'Nodes and modules come from the machine that runs this container: load nvidia_uvm there and pass the nodes on.'
          : noFile
            ? `nvidia-uvm is not on disk for kernel ${driver.runningKernel}: repair the driver's packages.`
            : null,
      },
    ];
  },
});

/** The driver is the host's own, and containers are what it is for. */
function isConcerned(driver: FactValue<'driver'>): boolean {
  return (
    driver.modules.includes('nvidia') && !driver.modules.includes('nvidia_vgpu_vfio') && !isDriverOfContainer(driver)
  );
}

/** A container that is a host of its own, with an engine inside. */
function isWholeSystem(os: FactValue<'os'>): boolean {
  return os.virtualisation === 'lxc' || os.virtualisation === 'systemd-nspawn';
}

function missingNodes(fact: FactValue<'device_nodes'>, pci: FactValue<'pci'>): Evidence {
  const nodes = new Map(fact.nodes.map((node) => [node.path, node]));
  const wanted = fact.gpuMinors.filter(({ excluded, minor }) => !excluded && minor !== null);
  const missing = ['/dev/nvidiactl', '/dev/nvidia-uvm', ...wanted.map(({ minor }) => `/dev/nvidia${minor}`)]
    .filter((path) => !nodes.has(path))
    .map((path) => ({ source: sources.file(path), quote: 'absent' }));
  // The number of unified memory is another one after every load: a node that was kept leads nowhere.
  const uvm = nodes.get('/dev/nvidia-uvm');
  const major = fact.majors['nvidia-uvm'];
  if (uvm && major !== undefined && uvm.major !== major)
    missing.push(
      { source: sources.file(uvm.path), quote: `major ${uvm.major}` },
      { source: sources.characterDevices, quote: `${major} nvidia-uvm` },
    );
  // Drivers that do not tell minors: at least as many nodes as GPUs.
  const bound = pci.gpus.filter((gpu) => gpu.driver === 'nvidia').length;
  const present = fact.nodes.filter(({ path }) => /^\/dev\/nvidia\d+$/.test(path)).length;
  if (fact.gpuMinors.length === 0 && present < bound)
    missing.push({ source: sources.file('/dev'), quote: `${present} nodes /dev/nvidiaN for ${bound} GPUs` });
  return missing;
}
