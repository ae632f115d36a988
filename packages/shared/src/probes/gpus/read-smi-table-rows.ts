import type { Tree } from '../values.ts';

/** One GPU of the table, with the element names of `-q -x`, and what only the table has. */
export interface TableGpu {
  index: number;
  /** As printed: a name that is too long for its column ends in dots. */
  printedName: string;
  tree: Tree;
}

const firstCell = /^ *(\d{1,4}) +(?:(\S.*?) +)?(On|Off|WDDM|TCC|MCDM|N\/A|ERR!) *$/;
const busCell = /^ *(\S+) +(On|Off|N\/A|ERR!) *$/;
const secondCell = /^ *(\S+) +(\S+) +(\S+) +(\S.*?) +\/ +(\S.*?) *$/;
const memoryCell = /^ *(\S.*?) *\/ *(\S.*?) *$/;
const loadCell = /^ *(\S+) +(\S.*?) *$/;
const migDeviceCell = /^ *(\d{1,4}) +(\d{1,4}) +(\d{1,4}) +(\d{1,4}) *$/;
const computeModes: Readonly<Record<string, string>> = {
  'E. Process': 'Exclusive_Process',
  'E. Thread': 'Exclusive_Thread',
};

/** `45W` and `81920MiB` as the report spells them; everything else as it stands. */
function spaced(text: string): string {
  return text.replace(/^(\d{1,9}(?:\.\d{1,3})?)(MiB|W|C|%)$/, '$1 $2');
}

/** The first row of a GPU: name, persistence or driver model, bus id, ECC. Null: no such row. */
export function readFirstRow(cells: readonly string[]): TableGpu | null {
  const head = firstCell.exec(cells[0] ?? '');
  const bus = busCell.exec(cells[1] ?? '');
  if (!head || !bus) return null;
  const ecc = (cells[2] ?? '').trim();
  const counted = /^\d{1,12}$/.test(ecc);
  const persistence = head[3] === 'On' ? 'Enabled' : head[3] === 'Off' ? 'Disabled' : 'N/A';
  const printedName = head[2] ?? '';
  return {
    index: Number(head[1]),
    printedName,
    tree: {
      ...(bus[1] === 'N/A' ? {} : { '@id': bus[1] }),
      product_name: printedName.endsWith('...') ? '' : printedName,
      persistence_mode: head[3] === 'ERR!' ? 'ERR!' : persistence,
      // `On`: there is a count for each MIG device and none for the GPU.
      ecc_mode: { current_ecc: counted || ecc === 'On' ? 'Enabled' : ecc === 'Off' ? 'Disabled' : ecc },
      ecc_errors: { volatile: { double_bit: { total: counted ? ecc : '' } } },
    },
  };
}

/** The second row: fan, temperature, state, power, memory, load, compute mode. */
export function readSecondRow({ tree }: TableGpu, cells: readonly string[]): void {
  const state = secondCell.exec(cells[0] ?? '');
  if (state) {
    const [, fan = '', temperature = '', performance = '', draw = '', limit = ''] = state;
    tree.fan_speed = spaced(fan);
    tree.temperature = { gpu_temp: spaced(temperature) };
    tree.performance_state = performance;
    tree.gpu_power_readings = { power_draw: spaced(draw), current_power_limit: spaced(limit) };
  }
  const memory = memoryCell.exec(cells[1] ?? '');
  // `Not Supported` and `N/A` fill the cell without a total.
  if (memory && /\d/.test(cells[1] ?? ''))
    tree.fb_memory_usage = { used: spaced(memory[1] ?? ''), total: spaced(memory[2] ?? '') };
  else tree.fb_memory_usage = { used: (cells[1] ?? '').trim(), total: (cells[1] ?? '').trim() };
  const load = loadCell.exec(cells[2] ?? '');
  if (load) {
    tree.utilization = { gpu_util: spaced(load[1] ?? '') };
    tree.compute_mode = computeModes[load[2] ?? ''] ?? load[2];
  }
}

/** The third row, since 450: the MIG mode, with a star where the other one is in force until a reset. */
export function readMigRow({ tree }: TableGpu, cells: readonly string[]): void {
  const mode = (cells.at(-1) ?? '').trim();
  const pending = mode.replace(/\*$/, '');
  const other = pending === 'Enabled' ? 'Disabled' : 'Enabled';
  tree.mig_mode = { current_mig: mode.endsWith('*') ? other : pending, pending_mig: pending };
}

/** A row of the table of MIG devices, with the GPU it belongs to. */
export function readMigDeviceRow(cells: readonly string[]): { gpu: number; device: Tree } | null {
  const ids = migDeviceCell.exec(cells[0] ?? '');
  const memory = memoryCell.exec(cells[1] ?? '');
  if (!ids) return null;
  const [, gpu = '', gpuInstance = '', computeInstance = '', index = ''] = ids;
  const usage = { used: spaced(memory?.[1] ?? ''), total: spaced(memory?.[2] ?? '') };
  return {
    gpu: Number(gpu),
    device: { index, gpu_instance_id: gpuInstance, compute_instance_id: computeInstance, fb_memory_usage: usage },
  };
}

const processRow =
  /^ *(\d{1,4}) +(?:(N\/A|\d{1,4}) +(N\/A|\d{1,4}) +)?(\d{1,10}) +([CGMO+]{1,5}|N\/A) +(\S.*?)? *(?: (\d{1,9}MiB|N\/A|ERR!|Not Supported))? *$/;

/** A row of the table of processes, with the GPU it runs on. */
export function readProcessRow(cell: string): { gpu: number; process: Tree } | null {
  const row = processRow.exec(cell);
  if (!row) return null;
  const [, gpu = '', gpuInstance = '', computeInstance = '', pid = '', type = '', name = '', memory = ''] = row;
  return {
    gpu: Number(gpu),
    process: {
      pid,
      type,
      process_name: name,
      used_memory: spaced(memory),
      gpu_instance_id: gpuInstance,
      compute_instance_id: computeInstance,
    },
  };
}
