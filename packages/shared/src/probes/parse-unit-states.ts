import type { UnitState } from './fact.ts';

/** systemd 247 and newer print `@seconds` with --timestamp=unix; empty, 0 and n/a mean never. */
function toMs(text: string | undefined): number | null {
  const seconds = /^@(\d{1,12})(?:\.\d+)?$/.exec(text ?? '')?.[1];
  return seconds === undefined || Number(seconds) === 0 ? null : Number(seconds) * 1000;
}

/**
 * Output of `systemctl show` for several units: blocks of `Key=value`, parted by empty lines. Of an answer that was cut
 * the last line, and a block that does not end as the others do, are left out: half a state is none.
 */
export function parseUnitStates(text: string): UnitState[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const blocks = whole.split(/\r?\n\s*\r?\n/).map(fieldsOf);
  const lastKey = [...(blocks[0]?.keys() ?? [])].at(-1);
  return blocks.flatMap((fields) => {
    const name = fields.get('Id');
    const loadState = fields.get('LoadState');
    const activeState = fields.get('ActiveState');
    if (!name || !loadState || !activeState || lastKey === undefined || !fields.has(lastKey)) return [];
    const pid = Number(fields.get('MainPID') ?? '0');
    return [
      {
        name,
        loadState,
        activeState,
        subState: fields.get('SubState') || 'unknown',
        result: fields.get('Result') || null,
        enabled: fields.get('UnitFileState') || null,
        startedAtMs: toMs(fields.get('ActiveEnterTimestamp')),
        mainPid: Number.isSafeInteger(pid) && pid > 0 ? pid : null,
      },
    ];
  });
}

function fieldsOf(block: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.split(/\r?\n/)) {
    const equals = line.indexOf('=');
    if (equals > 0) fields.set(line.slice(0, equals).trim(), line.slice(equals + 1).trim());
  }
  return fields;
}
