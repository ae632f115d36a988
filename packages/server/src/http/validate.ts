import { FleetError } from '@gpufleet/shared/core';
import type { z } from 'zod';

const prefixes: Readonly<Record<string, string>> = { querystring: 'query.', params: 'path.', headers: 'header.' };

/** Parses a part of a request by its schema. What is wrong is told field by field; an unknown field is named itself. */
export function validatorCompiler({ schema, httpPart }: { schema: z.ZodType; httpPart?: string }) {
  return (data: unknown): { value: unknown } | { error: Error } => {
    const parsed = schema.safeParse(data);
    return parsed.success ? { value: parsed.data } : { error: toValidationError(httpPart ?? 'body', parsed.error) };
  };
}

function toValidationError(where: string, error: z.ZodError): FleetError {
  const errors = error.issues.flatMap((issue) => fieldErrors(prefixes[where] ?? '', issue));
  const first = errors[0];
  const name = first?.path === '' ? where : first?.path;
  return new FleetError('bad_request', `${name}: ${first?.message}`, { errors });
}

function fieldErrors(prefix: string, issue: z.core.$ZodIssue): { path: string; message: string }[] {
  const base = issue.path.map(String);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: prefix + [...base, key].join('.'), message: 'there is no such field' }));
  return [{ path: base.length === 0 ? '' : prefix + base.join('.'), message: issue.message }];
}
