import { FleetError, type Json } from '@gpufleet/shared/core';
import { JobKind, type JobRequest, jobRegistry, parseRequest } from '@gpufleet/shared/jobs';
import { z } from 'zod';

/** `--param key=value …` as the kind's own schema reads it: `true`, `3`, `a,b`, JSON or text. */
export function parseJobRequest(kindText: string, params: readonly string[]): JobRequest {
  const kind = JobKind.safeParse(kindText);
  if (!kind.success)
    throw new FleetError('usage', `there is no job kind ${kindText}; kinds: ${JobKind.options.join(', ')}`);
  const shape = shapeOf(jobRegistry[kind.data]?.params);
  const parsed: Record<string, Json> = {};
  for (const param of params) {
    const at = param.indexOf('=');
    if (at < 1) throw new FleetError('usage', `--param takes key=value, not ${param}`);
    const key = param.slice(0, at);
    if (key in parsed) throw new FleetError('usage', `--param ${key} is given twice`);
    parsed[key] = readValue(param.slice(at + 1), shape[key]);
  }
  const request = parseRequest(kind.data, parsed);
  if (!request.ok) throw new FleetError(request.because, request.detail);
  return { kind: kind.data, params: parsed };
}

function shapeOf(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType | undefined>> {
  // The schema's own types say no more than `$ZodType`; every schema of ours is a zod classic one.
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
}

function readValue(text: string, schema: z.ZodType | undefined): Json {
  const candidates: Json[] = [...asJson(text), text, text.split(',')];
  // Where none fits, the strict check of the whole request says why.
  return candidates.find((candidate) => schema?.safeParse(candidate).success) ?? candidates[0] ?? text;
}

function asJson(text: string): Json[] {
  try {
    return [JSON.parse(text) as Json];
  } catch {
    // Not JSON: plain text, as most values are.
    return [];
  }
}
