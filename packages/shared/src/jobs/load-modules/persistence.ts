import type { BootModules } from '../../probes/driver/fact.ts';
import type { UnitState } from '../../probes/fact.ts';
import { reason } from '../plan-parts.ts';
import type { PlanReason, Step } from '../step.ts';
import type { LoadModulesParams } from './params.ts';

type Part = { because: PlanReason; steps: Step[] };

const unit = 'nvidia-persistenced.service';
const startTimeoutMs = 60_000;

const linkRule = `# Made by gpufleet: systemd finds the node of a GPU by these links.
ACTION=="add", DEVPATH=="/bus/pci/drivers/nvidia", RUN+="/usr/bin/nvidia-ctk system create-dev-char-symlinks --create-all"
`;

/** What a boot would lose of what the job did, with the steps that keep it. */
export function persistenceParts(
  boot: BootModules,
  modules: LoadModulesParams['modules'],
  links: boolean,
  persistenced: UnitState | null,
): Part[] {
  const parts: Part[] = [];
  const listed = boot.modules.map(({ module }) => module);
  const unlisted = modules.filter((name) => !listed.includes(name));
  if (unlisted.length > 0) {
    const { path, sha256 } = boot.ownModulesFile;
    const own = boot.modules.filter(({ file }) => file === path).map(({ module }) => module);
    const contents = `# Made by gpufleet\n${[...new Set([...own, ...unlisted])].map((name) => `${name}\n`).join('')}`;
    parts.push({
      because: reason('not_at_boot', `no file makes a boot load ${unlisted.join(', ')}`),
      steps: [{ do: 'write_file', path, baseSha256: sha256, contents, newMode: 0o644 }],
    });
  }
  if (links && boot.linkRules.length === 0) {
    const { path, sha256 } = boot.ownLinkRule;
    parts.push({
      because: reason('not_at_boot', 'no rule of udev makes the links in /dev/char'),
      steps: [{ do: 'write_file', path, baseSha256: sha256, contents: linkRule, newMode: 0o644 }],
    });
  }
  if (persistenced?.loadState !== 'loaded') return parts;
  if (persistenced.enabled === 'disabled')
    parts.push({
      because: reason('not_enabled', `${unit} does not start at boot`),
      steps: [{ do: 'enable_unit', unit }],
    });
  if (persistenced.activeState !== 'active')
    parts.push({
      because: reason('not_running', `${unit} is ${persistenced.activeState}`),
      steps: [{ do: 'start_unit', unit, timeoutMs: startTimeoutMs }],
    });
  return parts;
}
