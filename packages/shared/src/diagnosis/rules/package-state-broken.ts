import { defineRule } from '../define-rule.ts';
import { sources } from '../sources.ts';

const shownPackages = 5;

export const packageStateBroken = defineRule({
  code: 'PACKAGE_STATE_BROKEN',
  layer: 'host',
  severity: 'warning',
  title: 'Packages that dpkg calls neither installed nor removed, or a journal that an interrupted dpkg left',
  notWhen: 'a package manager is at work right now: it is waited for',
  proposes: ['repair_packages'],
  needs: ['packages'],
  check({ packages }, asked) {
    const { broken, interrupted, busy } = packages;
    if (broken.length === 0 && interrupted !== true) {
      const unread = asked.unread('packages', 'interrupted');
      return unread ? { cannotTell: `dpkg's journal could not be looked at: ${unread}` } : [];
    }
    if (busy === null) return { cannotTell: 'packages are half done, and whether somebody works on them is not known' };
    if (busy) return [];
    const names = broken.slice(0, shownPackages).map(({ name }) => name);
    const rest = broken.length - names.length;
    const list = `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
    return [
      {
        subject: null,
        severity: 'warning',
        summary:
          broken.length > 0
            ? `Not properly installed: ${list}; apt refuses further work until this is repaired`
            : 'dpkg was interrupted in the middle of its work; apt refuses further work until it has been finished',
        evidence: [
          ...broken
            .slice(0, shownPackages)
            .map(({ name, state }) => ({ source: sources.packages, quote: `${name} ${state}` })),
          ...(interrupted
            ? [{ source: sources.file('/var/lib/dpkg/updates'), quote: 'holds entries that dpkg has not carried over' }]
            : []),
        ],
        remedy: { jobs: [{ kind: 'repair_packages', params: {} }], approval: 'approve' },
        person: null,
      },
    ];
  },
});
