import { redactJson } from './redact-json.ts';
import { REDACTED } from './redact-secrets.ts';

/** Where dockerd keeps what a container was made with: its environment and commands hold whatever people put there. */
export const CONTAINER_FILE = /\/containers\/[^/]+\/config\.v2\.json$/;

const withoutContent = new Set(['Args', 'Cmd', 'Entrypoint', 'Healthcheck', 'Labels', 'OnBuild']);

/** Leaves of the environment only what NVIDIA's runtime reads, and nothing of commands and labels. */
export function redactContainer(content: string): string {
  return redactJson(content, redactMember);
}

function redactMember(key: string, value: unknown): unknown {
  if (withoutContent.has(key)) return null;
  if (key !== 'Env' || !Array.isArray(value)) return value;
  return value.map((entry: unknown) => {
    const name = typeof entry === 'string' ? (entry.split('=')[0] ?? '') : '';
    return name.startsWith('NVIDIA_') ? entry : `${name}=${REDACTED}`;
  });
}
