import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { k3sKnowsNvidia, runtimeForK3s } from './k3s-parts.ts';

export const k3sTemplateProblem = defineRule({
  code: 'K3S_TEMPLATE_PROBLEM',
  layer: 'engine',
  severity: 'critical',
  title:
    'A k3s template is broken, what it rendered is, or only the old config.toml.tmpl is there on a k3s with containerd 2',
  notWhen: 'no template; config-v3.toml.tmpl is there; k3s with containerd 1.7',
  proposes: [],
  needs: ['k3s', 'toolkit'],
  excludedBy: ({ k3s }) => k3s !== null && (!k3s.installed || !k3s.templates.some(({ present }) => present)),
  check({ k3s, toolkit }) {
    const templates = k3s.templates.filter(({ present }) => present);
    const unread = templates.find(({ sha256 }) => sha256 === null);
    if (unread) return { cannotTell: `${unread.path} could not be read: ${unread.error ?? 'no reason given'}` };
    const broken = templates.find(({ error }) => error !== null);
    if (broken) return [said(broken.path, 'critical', `${broken.path} is broken`, broken.error ?? '')];
    const old = templates.find(({ path }) => path.endsWith('/config.toml.tmpl'));
    const used = templates.find(({ path }) => path.endsWith('/config-v3.toml.tmpl')) ?? old;
    if (!used) return [];
    if (k3s.renderedFile.present && k3s.renderedFile.error !== null)
      return [
        said(
          used.path,
          'critical',
          `What ${used.path} renders is not valid TOML`,
          k3s.renderedFile.error,
          k3s.renderedFile.path,
        ),
      ];
    if (used !== old || !hasContainerd2(k3s.version)) return [];
    // Without the toolkit no template could have named it.
    const without = k3sKnowsNvidia(k3s)?.knows === false && runtimeForK3s(toolkit) !== null;
    const summary = `${used.path} is for containerd 1.7: k3s ${k3s.version} keeps the old configuration version because of it`;
    return [
      said(
        used.path,
        without ? 'critical' : 'warning',
        without ? `${summary}, and it has no nvidia runtime` : summary,
        `version = ${k3s.rendered?.schema ?? 2}`,
        k3s.renderedFile.path,
      ),
    ];
  },
});

function said(
  template: string,
  severity: Found['severity'],
  summary: string,
  quote: string,
  source: string = template,
): Found {
  return {
    subject: `file:${template}`,
    severity,
    summary,
    evidence: [{ source: sources.file(source), quote }],
    remedy: null,
    person:
      `Remove ${template} where k3s’ own detection is enough, or rewrite it as config-v3.toml.tmpl that begins with ` +
      '{{ template "base" . }} and adds only tables that the base lacks; then restart k3s.',
  };
}

/** k3s brought containerd 2 with v1.31.6, v1.32.2 and everything after. */
function hasContainerd2(version: string | null): boolean {
  const match = /^v?1\.(\d+)\.(\d+)/.exec(version ?? '');
  if (!match) return false;
  const [minor, patch] = [Number(match[1]), Number(match[2])];
  return minor > 32 || (minor === 32 && patch >= 2) || (minor === 31 && patch >= 6);
}
