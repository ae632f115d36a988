import { parseSmiFailure } from '../gpus/parse-smi-failure.ts';
import { type Parsed, plainText, unread } from '../parsed.ts';
import type { FabricFact } from './fact.ts';

type Links = NonNullable<FabricFact['nvlinks']>;

const gpuLine = /^GPU (\d{1,4}):/;
const linkLine = /^\s+Link (\d{1,3}): (?:(\d{1,6}(?:\.\d{1,6})?) GB\/s|(<inactive>))\s*$/;
/** More than any board has: 256 GPUs of 18 links. */
const mostLinks = 4_608;

/** Output of `nvidia-smi nvlink -s`. A GPU without links has a line of its own and none below it. */
export function parseNvlinkStatus(given: string): Parsed<Links> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const links: Links = [];
  let gpu: number | null = null;
  let gpus = 0;
  for (const line of text.split(/\r?\n/)) {
    const heading = gpuLine.exec(line);
    if (heading) {
      gpu = Number(heading[1]);
      gpus += 1;
    }
    const [, link, speed, inactive] = linkLine.exec(line) ?? [];
    if (gpu === null || link === undefined || links.length >= mostLinks) continue;
    const gigabytesPerSecond = speed === undefined ? null : Number(speed);
    const active = inactive === undefined && gigabytesPerSecond !== 0;
    links.push({ gpu, link: Number(link), active, gigabytesPerSecond });
  }
  if (gpus > 0) return { value: links, unreadable: [] };
  // Older branches say so in a sentence when no GPU has an active link.
  if (/NVLink information as all links are inActive|No NVLink|not supported/i.test(text))
    return { value: [], unreadable: [] };
  return unread(parseSmiFailure(text) ?? 'not_nvlink_status');
}
