import type { HostReader, RunOptions } from '@gpufleet/shared/host';

/** What equal commands of one observation share: docker, containerd and k3s all ask the same `systemctl show`. */
export type CommandCache = Map<string, ReturnType<HostReader['run']>>;

const maxTimeoutMs = 60_000;
const maxUrlTimeoutMs = 5_000;
const maxBytes = 16 * 1024 * 1024;

export interface RecordingReader extends HostReader {
  /** `file:/path`, `command:argv` and `url:address`, in the order first read. */
  how(): string[];
}

/** The reader that a probe is given: notes what is read, caps time and output, runs equal commands once. */
export function createRecordingReader(host: HostReader, cache: CommandCache): RecordingReader {
  const how = new Set<string>();
  const noted = <Options extends unknown[], R>(read: (path: string, ...options: Options) => R) => {
    return (path: string, ...options: Options): R => {
      how.add(`file:${steadyPath(path)}`);
      return read(path, ...options);
    };
  };
  return {
    how: () => [...how],
    moment: () => host.moment(),
    readText: noted((path, options) => host.readText(path, options)),
    readBytes: noted((path, options) => host.readBytes(path, options)),
    listDir: noted((path) => host.listDir(path)),
    stat: noted((path) => host.stat(path)),
    lstat: noted((path) => host.lstat(path)),
    readLink: noted((path) => host.readLink(path)),
    openFiles(prefixes) {
      // Every process is looked into; which ones there are is no part of how it is read.
      how.add('file:/proc/*/fd');
      return host.openFiles(prefixes);
    },
    run(argv, options) {
      how.add(`command:${argv.join(' ')}`);
      const key = argv.join('\0');
      const earlier = cache.get(key);
      if (earlier !== undefined) return earlier;
      const running = host.run(argv, capped(options));
      cache.set(key, running);
      return running;
    },
    probeUrl(url, { timeoutMs }) {
      how.add(`url:${url}`);
      return host.probeUrl(url, { timeoutMs: Math.min(timeoutMs, maxUrlTimeoutMs) });
    },
    si(name) {
      how.add(`si:${name}`);
      return host.si(name);
    },
  };
}

/** Which processes, containers and pods there are is no part of how they are read: they come and go. */
function steadyPath(path: string): string {
  return path
    .replace(/^\/proc\/\d+(?=\/)/, '/proc/*')
    .replace(/\/[0-9a-f]{64}(?=\/|$)/, '/*')
    .replace(/^\/var\/log\/pods\/[^/]+(\/[^/]+)?(\/\d+\.log)?/, (_, container?: string, run?: string) =>
      ['/var/log/pods/*', container ?? '', run ? '/*.log' : ''].join(''),
    );
}

function capped(options: RunOptions): RunOptions {
  return {
    timeoutMs: Math.min(options.timeoutMs, maxTimeoutMs),
    maxBytes: Math.min(options.maxBytes ?? maxBytes, maxBytes),
  };
}
