import type { ConfigFile } from '../../probes/fact.ts';
import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { isDown } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { missingImport, rootPath } from './containerd-parts.ts';
import { isNoFile } from './docker-parts.ts';

export const containerdConfigInvalid = defineRule({
  code: 'CONTAINERD_CONFIG_INVALID',
  layer: 'engine',
  severity: 'critical',
  title:
    'A configuration file of containerd is not valid TOML, is no file, or names an import that is not there (before 2.0): ' +
    'critical while it is down, a warning while it runs on what it loaded earlier',
  notWhen:
    'files whose versions do not fit (CONTAINERD_CONFIG_VERSION_MISMATCH); k3s, rke2, microk8s, which write theirs',
  proposes: [],
  needs: ['containerd'],
  excludedBy: ({ containerd }) => containerd?.installed === false,
  check({ containerd }, asked) {
    const broken = containerd.files.filter((file) => file.error !== null && (file.sha256 !== null || isNoFile(file)));
    if (broken.length > 0) return broken.map((file) => invalid(containerd, file.path, faultOf(file), file.error ?? ''));
    const root = rootPath(containerd);
    const missing = missingImport(containerd, asked);
    if (missing !== null)
      return [invalid(containerd, root, `imports ${missing}, which is not there`, `imports: ${missing}`)];
    if (asked.unread('containerd', 'effective') === 'byte_order_mark')
      return [
        invalid(
          containerd,
          root,
          'begins with a byte order mark, or an import of it does',
          'a byte order mark, no TOML',
        ),
      ];
    const unread = containerd.files.find(({ error }) => error !== null);
    return unread ? { cannotTell: `${unread.path} could not be read: ${unread.error}` } : [];
  },
});

function faultOf(file: ConfigFile): string {
  return isNoFile(file) ? 'is no file that can be read' : 'is not valid';
}

function invalid(containerd: FactValue<'containerd'>, path: string, fault: string, quote: string): Found {
  const isOver = isDown(containerd);
  return {
    subject: `file:${path}`,
    severity: isOver ? 'critical' : 'warning',
    summary: isOver
      ? `${path} ${fault}: containerd cannot start`
      : `${path} ${fault}: containerd runs on what it loaded earlier; it will not start again`,
    evidence: [{ source: sources.file(path), quote }],
    remedy: null,
    person: `Correct ${path} and see what comes of it with \`containerd config dump\` before anything restarts containerd.`,
  };
}
