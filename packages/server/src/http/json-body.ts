import type { FastifyInstance } from 'fastify';

const maxDepth = 32;

/** JSON only, no prototype tricks, and no nesting that would exhaust a recursive reader. */
export function installJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = typeof body === 'string' ? body : body.toString('utf8');
    if (isDeeperThan(text, maxDepth)) return done(new SyntaxError(`the body is nested deeper than ${maxDepth}`));
    return parse(request, text, done);
  });
}

export function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (isInString) {
      if (character === 0x5c) i++;
      else if (character === 0x22) isInString = false;
    } else if (character === 0x22) isInString = true;
    else if (character === 0x5b || character === 0x7b) {
      depth++;
      if (depth > limit) return true;
    } else if (character === 0x5d || character === 0x7d) depth--;
  }
  return false;
}
