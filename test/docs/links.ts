import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { readText, root } from './repository.ts';

/** Relative links of a Markdown page that lead nowhere, with the reason. */
export function brokenLinks(page: string, text: string): string[] {
  // Code is not prose: a link in it is no link.
  const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\[[^\]]*\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return [];
    const [path = '', anchor] = link.split('#', 2);
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (target !== page && (target.startsWith('..') || !existsSync(join(root, target))))
      return [`${page}: ${link} is not there`];
    if (anchor === undefined || !target.endsWith('.md')) return [];
    const headings = target === page ? text : readText(target);
    return anchorsOf(headings).includes(anchor) ? [] : [`${page}: ${link} names no heading`];
  });
}

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}
