import { REDACTED } from './redact-secrets.ts';

/** A document with its members replaced; unchanged ones keep their spelling. What is no JSON is taken out as a whole. */
export function redactJson(content: string, redact: (key: string, value: unknown) => unknown): string {
  try {
    const before = JSON.stringify(JSON.parse(content));
    const after: unknown = JSON.parse(content, redact);
    if (JSON.stringify(after) === before) return content;
    const indent = /^\s*[{[]\r?\n([ \t]{1,8})/.exec(content)?.[1];
    return `${JSON.stringify(after, null, indent)}${/\s*$/.exec(content.slice(-2))?.[0] ?? ''}`;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // What it is made of cannot be told apart, so nothing of it leaves the host.
    return REDACTED;
  }
}
