import { REDACTED } from './redact-secrets.ts';

/** Where dockerd keeps what a container was made with: its environment and commands hold whatever people put there. */
export const CONTAINER_FILE = /\/containers\/[^/]+\/config\.v2\.json$/;

const withoutContent = new Set(['Args', 'Cmd', 'Entrypoint', 'Healthcheck', 'Labels', 'OnBuild']);

/** Leaves of the environment only what NVIDIA's runtime reads, and nothing of commands and labels. */
export function redactContainer(content: string): string {
  try {
    return JSON.stringify(JSON.parse(content, redactMember));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // What it is made of cannot be told apart, so nothing of it leaves the host.
    return REDACTED;
  }
}

function redactMember(key: string, value: unknown): unknown {
  if (withoutContent.has(key)) return null;
  if (key !== 'Env' || !Array.isArray(value)) return value;
  return value.map((entry: unknown) => {
    const name = typeof entry === 'string' ? (entry.split('=')[0] ?? '') : '';
    return name.startsWith('NVIDIA_') ? entry : `${name}=${REDACTED}`;
  });
}
