import type { FactValue } from '../../probes/facts.ts';
import { journalArgv, k3sDistribution, rke2Distribution } from '../../probes/k3s/distribution.ts';
import { isOlderThanStart } from '../../probes/unit-age.ts';
import { isOlderThan, versionParts } from '../../probes/versions.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';
import { k3sKnowsNvidia, type Rancher, rancherTitles, runtimeForK3s } from './k3s-parts.ts';

type K3s = FactValue<'k3s'>;

export const k3sTemplateProblem = templateProblem('k3s');

/** A server tells systemd that it is ready after it has written the file; whoever wrote it much later was not k3s. */
const renderingMs = 60_000;

/** What holds of k3s holds of rke2, which is made of the same parts. */
export function templateProblem(name: Rancher) {
  return defineRule({
    code: 'K3S_TEMPLATE_PROBLEM',
    layer: 'engine',
    severity: 'critical',
    title: `A template of ${rancherTitles[name]} fails or will fail at the next start, what it rendered is broken, only the old config.toml.tmpl is there beside containerd 2, or the generated file was edited`,
    notWhen:
      'no template, and the generated file is as it was rendered; config-v3.toml.tmpl is there; containerd 1.7; the running daemon started from this very template',
    proposes: [],
    needs: [name],
    excludedBy: (seen) => seen[name]?.installed === false,
    check(facts) {
      const own = facts[name];
      const templates = own.templates.filter(({ present }) => present);
      const unread = templates.find(({ sha256 }) => sha256 === null);
      if (unread) return { cannotTell: `${unread.path} could not be read: ${unread.error ?? 'no reason given'}` };
      const old = templates.find(({ path }) => path.endsWith('/config.toml.tmpl'));
      // Releases with containerd 1.7 do not know the new name.
      const current = hasContainerd2(own.version) === false ? undefined : templates.find(isForContainerd2);
      const used = current ?? old;
      if (!used) return editedByHand(name, own);
      return (
        failing(name, own, used.path) ?? willFail(name, own, used) ?? (used === old ? outdated(name, own, used) : [])
      );
    },
  });
}

function isForContainerd2({ path }: K3s['templates'][number]): boolean {
  return path.endsWith('/config-v3.toml.tmpl');
}

/** What the text of the template tells before anything is restarted. */
function willFail(name: Rancher, own: K3s, template: K3s['templates'][number]): Found[] | null {
  if (template.error === null) return null;
  // A daemon that came up from this very file knows better.
  if (
    own.unit?.activeState === 'active' &&
    isOlderThanStart(template.mtimeMs, own.unit) &&
    own.renderedFile.error === null
  )
    return null;
  const title = rancherTitles[name];
  const summary = `The next start of ${title} will fail: ${template.path} ${brokenHow(template.error)}`;
  return [
    said(name, template.path, 'critical', summary, { source: sources.file(template.path), quote: template.error }),
  ];
}

function brokenHow(error: string): string {
  if (error.startsWith('template:')) return 'is no template that it can read';
  return /defined twice/.test(error) ? 'states again what is there already' : 'does not give valid TOML';
}

/** It ended over the template, or containerd over what came of it. */
function failing(name: Rancher, own: K3s, template: string): Found[] | null {
  const fatal = own.lastFatal?.findLast((line) => /template|toml|already exists|containerd exited/i.test(line));
  if (fatal !== undefined) {
    const argv = journalArgv(name === 'k3s' ? k3sDistribution : rke2Distribution);
    const summary = `${rancherTitles[name]} does not start: ${template} does not fit this version`;
    return [said(name, template, 'critical', summary, { source: `command:${argv.join(' ')}`, quote: fatal })];
  }
  const broken = own.renderedFile;
  if (!broken.present || broken.error === null) return null;
  const evidence = { source: sources.file(broken.path), quote: broken.error };
  return [said(name, template, 'critical', `What ${template} renders is not valid TOML`, evidence)];
}

function outdated(name: Rancher, own: K3s, template: K3s['templates'][number]): Found[] {
  if (!hasContainerd2(own.version)) return [];
  const schema = own.rendered?.schema ?? null;
  const isKept = schema !== null && schema < 3;
  // A whole configuration of the new version under the old name keeps nothing back.
  if (schema !== null && !isKept && isOlderThanStart(template.mtimeMs, own.unit)) return [];
  // Without the toolkit no template could have named it.
  const without = k3sKnowsNvidia(name, own)?.knows === false && runtimeForK3s(own) !== null;
  const title = rancherTitles[name];
  const summary = `${template.path} is for containerd 1.7: ${title} ${own.version} keeps the old configuration version because of it`;
  const evidence = isKept
    ? { source: sources.file(own.renderedFile.path), quote: `version = ${schema}` }
    : { source: sources.file(template.path), quote: '(no config-v3.toml.tmpl beside it)' };
  return [
    said(
      name,
      template.path,
      without ? 'critical' : 'warning',
      without ? `${summary}, and it has no nvidia runtime` : summary,
      evidence,
    ),
  ];
}

function editedByHand(name: Rancher, own: K3s): Found[] {
  const { path, mtimeMs } = own.renderedFile;
  const startedAtMs = own.unit?.startedAtMs ?? null;
  // An agent's unit counts as started long before its server lets it render anything.
  if (own.role !== 'server' || own.unit?.activeState !== 'active' || startedAtMs === null || mtimeMs === null)
    return [];
  if (mtimeMs <= startedAtMs + renderingMs) return [];
  const title = rancherTitles[name];
  return [
    {
      subject: `file:${path}`,
      severity: 'warning',
      summary: `${path} was edited after ${title} had written it: its next start undoes that`,
      evidence: [
        { source: sources.file(path), quote: `changed ${utcText(mtimeMs)}` },
        { source: sources.units, quote: `${own.unit.name} started ${utcText(startedAtMs)}` },
      ],
      remedy: null,
      person: `Put what is to stay into config-v3.toml.tmpl beside it, below {{ template "base" . }}; the runtime of NVIDIA needs no entry, ${title} finds it at its start.`,
    },
  ];
}

function said(
  name: Rancher,
  template: string,
  severity: Found['severity'],
  summary: string,
  evidence: Found['evidence'][number],
): Found {
  return {
    subject: `file:${template}`,
    severity,
    summary,
    evidence: [evidence],
    remedy: null,
    person:
      `Remove ${template} where the detection of ${rancherTitles[name]} is enough, or rewrite it as config-v3.toml.tmpl that begins with ` +
      `{{ template "base" . }} and adds only tables that the base lacks; then restart ${rancherTitles[name]}.`,
  };
}

/** containerd 2 came with v1.31.6, v1.32.2 and everything after, of both; null: the release is not known. */
function hasContainerd2(version: string | null): boolean | null {
  const parts = versionParts(version);
  if (parts === null) return null;
  if (isOlderThan(version, [1, 31, 6])) return false;
  return parts[1] === 31 || !isOlderThan(version, [1, 32, 2]);
}
