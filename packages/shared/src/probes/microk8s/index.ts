import { deriveEffectiveConfig } from '../containerd/derive-effective-config.ts';
import { asWritten, parseContainerdFile } from '../containerd/parse-containerd-config.ts';
import { parseCriInfo } from '../containerd/parse-cri-info.ts';
import { readContainerdFiles } from '../containerd/read-containerd-files.ts';
import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { findProgram } from '../find-program.ts';
import { type Gap, gapOf } from '../parsed.ts';
import { absentFile, readConfigFile } from '../read-config-file.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { MicroK8sFact } from './fact.ts';
import { microk8sProgram, microk8sSnapYaml, microk8sSocket, microk8sWorkerMarks, snapData } from './microk8s-paths.ts';
import { parseSnapVersion } from './parse-snap-version.ts';

const unitName = 'snap.microk8s.daemon-containerd.service';
const templatePath = `${snapData}/args/containerd-template.toml`;
const renderedPath = `${snapData}/args/containerd.toml`;
const renderedFiles = [renderedPath, `${snapData}/args/*`, `${snapData}/args/*/*`];
const infoArgv = ['crictl', '--runtime-endpoint', `unix://${microk8sSocket}`, 'info'] as const;

export const microk8sProbe = defineProbe({
  key: 'microk8s',
  title: 'MicroK8s: role, the template of its containerd configuration, what was made from it, and the live answer',
  everyMs: 60_000,
  inputs: {
    files: [microk8sProgram, microk8sSnapYaml, ...microk8sWorkerMarks, templatePath, ...renderedFiles],
    commands: [{ argv: infoArgv, required: false }, ...unitStatesCommands],
  },
  async collect(context) {
    const { host } = context;
    const partial: Gap[] = [];
    // The program of a snap is a link to `snap`; the snap itself has the manifest.
    if ((await findProgram(host, [microk8sSnapYaml, microk8sProgram])) === null)
      return { value: notInstalled, unreadable: null };
    const units = await readUnitStates(host);
    partial.push(...gapOf('unit', units.unread(unitName)));
    const marks = await Promise.all(microk8sWorkerMarks.map((path) => host.stat(path)));
    const template = await readConfigFile(context, templatePath);
    if (template.gap) partial.push({ path: 'template', because: template.gap.because });
    const written = template.text === null ? null : parseContainerdFile(template.text);
    if (written?.value === null) template.file.error = written.unreadable[0]?.because ?? null;
    const read = await readContainerdFiles(context, renderedPath, {
      declared: renderedFiles,
      missingImportIsFatal: false,
    });
    partial.push(...read.gaps.map(({ because }) => ({ path: 'rendered', because })));
    const effective = read.root === null || read.parsed === null ? null : deriveEffectiveConfig(read.parsed, null);
    const value: MicroK8sFact = {
      installed: true,
      version: await readVersion(context, partial),
      role: marks.every(({ ok }) => ok) ? 'agent' : 'server',
      unit: units.find(unitName),
      template: template.file,
      templateConfig: written?.value ? asWritten(written.value) : null,
      renderedFile: read.files[0] ?? absentFile(renderedPath),
      rendered: effective?.value ?? null,
      live: await readLive(context, partial),
    };
    return { value, unreadable: null, partial };
  },
});

const notInstalled: MicroK8sFact = {
  installed: false,
  version: null,
  role: null,
  unit: null,
  template: absentFile(templatePath),
  templateConfig: null,
  renderedFile: absentFile(renderedPath),
  rendered: null,
  live: null,
};

async function readVersion({ host }: ProbeContext, partial: Gap[]): Promise<string | null> {
  const read = await host.readText(microk8sSnapYaml, { maxBytes: 1_000_000 });
  const version = read.ok ? parseSnapVersion(read.value) : null;
  if (version === null) partial.push({ path: 'version', because: read.ok ? 'unexpected_text' : read.because });
  return version;
}

async function readLive({ host }: ProbeContext, partial: Gap[]): Promise<MicroK8sFact['live']> {
  const said = await runCommand(host, infoArgv);
  if (!said.ok || said.ran.exitCode !== 0) {
    const because = said.ok ? `not_answering: ${firstLine(said.ran)}` : said.because;
    partial.push({ path: 'live', because: because === 'absent' ? 'no_crictl' : because });
    return null;
  }
  const info = parseCriInfo(said.text);
  partial.push(...info.unreadable.map(({ path, because }) => ({ path: path ? `live.${path}` : 'live', because })));
  return info.value?.runtimes ? { runtimes: info.value.runtimes, defaultRuntime: info.value.defaultRuntime } : null;
}
