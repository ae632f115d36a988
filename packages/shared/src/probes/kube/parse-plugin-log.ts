import { plainText } from '../parsed.ts';
import type { PluginLog, PluginLogEvent } from './device-plugin-fact.ts';
import { parsePrintedConfig } from './parse-plugin-config.ts';

const keptEvents = 40;
const keptLines = 10;
const keptLength = 400;

/** What a line means; the first that fits. Several releases have words of their own for the same fault. */
const meanings: readonly [PluginLogEvent['kind'], RegExp][] = [
  [
    'unhealthy',
    /marking (?:the )?(?:device|it|all devices) as unhealthy|device marked unhealthy|Marking device \S+ as unhealthy/i,
  ],
  [
    'mig_layout',
    /More than one MIG device type|all devices on the node must be configured with the same migEnabled|has no MIG devices configured|was not configured correctly/i,
  ],
  ['unknown_platform', /Detected platform: unknown|Unsupported platform detected/i],
  [
    'no_nvml',
    /Incompatible (?:platform|strategy) detected|could not load NVML|Failed to initialize NVML|invalid device discovery strategy|did you configure the NVIDIA Container Toolkit/i,
  ],
  ['kubelet_socket', /Could not contact Kubelet|device-plugins\/kubelet\.sock.*(?:no such file|connection refused)/i],
  ['config_invalid', /unable to (?:finalize|load|validate) (?:the )?(?:config|flags)|unmarshal error/i],
  ['no_devices', /No devices found/i],
];

/** The log of one run of the plugin, as the kubelet keeps it or as the API gives it. */
export function parsePluginLog(given: string): Pick<PluginLog, 'config' | 'events' | 'lastLines'> | null {
  const text = plainText(given);
  if (text === null) return null;
  const lines = text
    .split(/\r?\n/)
    .map(withoutContainerPrefix)
    .filter((line) => line.trim() !== '');
  const events = new Map<string, PluginLogEvent>();
  for (const line of lines) {
    const event = toEvent(line);
    if (event !== null) events.set(`${event.kind} ${event.line}`, event);
  }
  return {
    config: printedConfig(lines),
    events: [...events.values()].slice(-keptEvents),
    lastLines: lines.slice(-keptLines).map((line) => line.trim().slice(0, keptLength)),
  };
}

/** `2026-06-10T04:58:50.123456789Z stderr F ` of the kubelet's files. */
function withoutContainerPrefix(line: string): string {
  return line.replace(/^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] /, '');
}

/** klog's `I0610 04:58:50.123456       1 main.go:235] ` and the date of older releases: they differ at each start. */
function withoutTime(line: string): string {
  return line
    .replace(/^[IWEF]\d{4} [\d:.]+\s+\d+ [\w.-]+:\d+\]\s*/, '')
    .replace(/^\d{4}\/\d\d\/\d\d [\d:]{8} /, '')
    .trim()
    .slice(0, keptLength);
}

function toEvent(given: string): PluginLogEvent | null {
  const line = withoutTime(given);
  const kind = meanings.find(([, pattern]) => pattern.test(line))?.[0];
  if (kind === undefined) return null;
  const xid = /\bXid=(\d{1,4})\b/.exec(line)?.[1];
  return {
    kind,
    device: /\b((?:MIG-)?(?:GPU-)?[0-9a-f]{8}-[0-9a-f-]{27}|GPU-[0-9a-f-]{8,36})\b/i.exec(line)?.[1] ?? null,
    xid: xid === undefined ? null : Number(xid),
    line,
  };
}

/** The last `Running with config:` and the JSON below it, which ends with a brace at the margin. */
function printedConfig(lines: readonly string[]): PluginLog['config'] {
  const heading = lines.findLastIndex((line) => /Running with config:\s*$/.test(line));
  if (heading < 0) return null;
  const first = heading + 1;
  if (lines[first] !== '{') return null;
  const last = lines.findIndex((line, place) => place > first && line === '}');
  return last < 0 ? null : parsePrintedConfig(lines.slice(first, last + 1).join('\n'));
}
