import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { simulatedClassNames } from '../../packages/agent/src/host/simulated/index.ts';
import { parseJson, parseToml } from '../../packages/shared/src/probes/parse-document.ts';
import { simulate } from '../hosts/simulated-facts.ts';
import { corpus, hasCorpus, ifSkipped, readCaptures } from './corpus.ts';
import { shapeOf } from './xml-shape.ts';

/** Simulator and reader are written by the same people: here the simulator is held to what real programs printed. */
const captures = readCaptures();
const withGpu = simulatedClassNames.filter((name) => name !== 'no-gpu');

const dtdOf = (text: string) => /nvsmi_device_v(\d+)\.dtd/.exec(text.slice(0, 2000))?.[1] ?? null;
const reports = captures
  .filter(({ file }) => file.startsWith('smi-xml/'))
  .map(({ text }) => ({ dtd: dtdOf(text), shape: shapeOf(text) }));

/** Not in any report that was published, and how we know of it. */
const elsewhere: Record<string, string> = {
  'gpu/gpu_memory_power_readings/power_draw':
    'the text of the same driver has it: GPU Memory Power Readings, Power Draw',
};

async function printed(className: (typeof simulatedClassNames)[number], ...args: string[]) {
  const host = simulate(className);
  const ran = await host.run(['nvidia-smi', ...args], { timeoutMs: 60_000 });
  return { host, text: ran.ok ? ran.value.stdout : null };
}

test.skipIf(!hasCorpus).each(withGpu)(
  `every element that a simulated %s prints is in a real report of that time, in that order${ifSkipped}`,
  async (className) => {
    const { text } = await printed(className, '-q', '-x');
    const shape = shapeOf(text ?? '');
    const real = reports.filter(({ dtd }) => dtd === dtdOf(text ?? ''));
    expect(real.length).toBeGreaterThan(3);
    const known = new Set(real.flatMap((one) => [...one.shape.paths]));
    const ever = new Set(reports.flatMap((one) => [...one.shape.paths]));
    const hasContent = (path: string) => [...known].some((one) => one.startsWith(`${path}/`));
    // No report of this time has a MIG device: then those of an earlier time tell what is in one.
    const isReal = (path: string) =>
      known.has(path) || (ever.has(path) && !hasContent(path.replace(/\/mig_device\/.*|\/[^/]*$/, '')));
    expect([...shape.paths].filter((path) => !isReal(path) && !(path in elsewhere))).toEqual([]);
    const against = [...shape.pairs].filter((pair) => {
      const [parent = '', first = '', second = ''] = pair.split(' ');
      const turned = `${parent} ${second} ${first}`;
      return (
        !shape.pairs.has(turned) &&
        real.every((one) => !one.shape.pairs.has(pair)) &&
        real.some((one) => one.shape.pairs.has(turned))
      );
    });
    expect(against).toEqual([]);
  },
);

/** Ids, names, counts and bus ids differ; the words between them do not. */
function withoutValues(line: string): string {
  return line
    .replace(/\b(?:GPU|MIG)-[0-9a-f-]{36}/gi, 'UUID')
    .replace(/\b[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.[0-7]/gi, 'BUS')
    .replace(/\b(?:en|dis)able(d?)\b/gi, 'SWITCH$1')
    .replace(/^GPU \d+: .* \(UUID/, 'GPU N: NAME (UUID')
    .replace(/\b\d+g\.\d+gb(?:\+me(?:\.all)?)?\b/g, 'PROFILE')
    .replace(/\b\d+(?:\.\d+)+/g, 'VERSION')
    .replace(/\s+\d+:\d+\b/g, ' START:SIZE')
    .replace(/\s+\d+\b/g, ' N')
    .replace(/\s+/g, ' ')
    .trim();
}

const realLines = new Set(
  [
    ...captures.filter(({ kind }) => /^(?:list|migmsg|migtab|fail)/.test(kind)).map(({ text }) => text),
    ...caseTexts(),
  ].flatMap((text) => text.split(/\r?\n/).map(withoutValues)),
);

function caseTexts(): string[] {
  if (corpus === undefined) return [];
  const root = join(corpus, 'nvidia-smi', 'cli');
  return readdirSync(root).map((name) => readFileSync(join(root, name, 'stdout'), 'utf8'));
}

test.skipIf(!hasCorpus).each(withGpu)(
  `a simulated %s lists its GPUs in the words of the real program${ifSkipped}`,
  async (className) => {
    const { text } = await printed(className, '-L');
    expect(
      (text ?? '')
        .split('\n')
        .map(withoutValues)
        .filter((line) => !realLines.has(line)),
    ).toEqual([]);
  },
);

type Machine = ReturnType<typeof simulate>['machine'];

/** Each situation in which the simulator answers; what it does not know gives no text and is no answer. */
const situations: [string, (machine: Machine) => void][] = [
  ['idle', (machine) => expect(machine.gpus[0]?.clients).toEqual([])],
  [
    'used',
    ({ gpus }) => {
      for (const gpu of gpus) gpu.clients.push({ pid: 4711, name: 'app', usedMiB: 9, gpuInstanceId: null });
    },
  ],
  [
    'in need of a reset',
    ({ gpus }) => {
      for (const gpu of gpus) gpu.migNeedsReset = true;
    },
  ],
  ['without a driver', ({ driver }) => driver && Object.assign(driver, { loaded: null })],
  ['with another library', ({ driver }) => driver && Object.assign(driver, { library: '570.99.1' })],
];
const commands = [
  '-i 0 -mig 0',
  '-i 0 -mig 1',
  '-i 9 -mig 1',
  'mig -lgip',
  'mig -lgi',
  'mig -lci',
  'mig -dci',
  'mig -dgi',
  'mig -cgi 19 -C',
  'mig -cgi 9 -C',
  '-L',
  'mig -lgip -i 0',
];

test.skipIf(!hasCorpus).each(situations)(
  'what nvidia-smi says of MIG on a simulated host that is %s, the real one says',
  async (_, arrange) => {
    for (const className of ['a100-mig', 'h100-mig', 'x86-docker'] as const)
      for (const line of commands) {
        const host = simulate(className);
        arrange(host.machine);
        const ran = await host.run(['nvidia-smi', ...line.split(' ')], { timeoutMs: 60_000 });
        const lines = ran.ok ? ran.value.stdout.split('\n').map(withoutValues) : [];
        expect([className, line, lines.filter((one) => one !== '' && !realLines.has(one))]).toEqual([
          className,
          line,
          [],
        ]);
      }
  },
);

/** Paths of keys; what a table's members are called is the host's own (runtimes, plugins by schema). */
function keysOf(value: unknown, path = ''): string[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, inner]) =>
    keysOf(inner, /(?:runtimes|log-opts|env|storage-opts)$/.test(path) ? `${path}.*` : `${path}.${key}`),
  );
}

function readConfig(text: string): unknown {
  const document = text.trimStart().startsWith('{') ? parseJson(text) : parseToml(text);
  return document.ok ? document.value : {};
}

const configurations: [string, string, RegExp][] = [
  ['/etc/nvidia-container-runtime/config.toml', 'toolkit', /\.toml$/],
  ['/etc/docker/daemon.json', 'docker', /\.json$/],
  ['/etc/containerd/config.toml', 'containerd', /\.toml$/],
];

test.skipIf(!hasCorpus).each(configurations)(
  `the keys of a simulated %s are keys of real ones${ifSkipped}`,
  (path, folder, files) => {
    const real = captures
      .filter(({ file }) => file.startsWith(`${folder}/`) && files.test(file))
      .map(({ text }) => text);
    const trees =
      folder === 'containerd' ? [...real, ...ctkFiles('config.toml')] : [...real, ...ctkFiles('daemon.json')];
    const known = new Set(trees.flatMap((text) => keysOf(readConfig(text))));
    const found = simulatedClassNames.flatMap((name) => {
      const text = simulate(name).machine.files.text(path);
      return text === undefined ? [] : keysOf(readConfig(text)).filter((key) => key !== '');
    });
    expect(found.length).toBeGreaterThan(0);
    expect([...new Set(found)].filter((key) => !known.has(key))).toEqual([]);
  },
);

/** What the real nvidia-ctk was given and what it wrote. */
function ctkFiles(name: string): string[] {
  if (corpus === undefined) return [];
  const root = join(corpus, 'nvidia-ctk');
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && (entry.name === name || entry.name.endsWith('nvidia.toml')))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}
