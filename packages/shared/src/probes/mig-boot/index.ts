import { defineProbe, type ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import { bootLayoutPath, bootUnitLink, bootUnitPath, bootUnitText } from './boot-unit.ts';
import { parseBootLayout } from './parse-boot-layout.ts';

export const migBootProbe = defineProbe({
  key: 'mig_boot',
  title: 'The MIG layout that gpufleet makes again at each boot, and the unit that does it',
  everyMs: 300_000,
  inputs: { files: [bootLayoutPath, bootUnitPath, bootUnitLink], commands: [] },
  async collect(context) {
    const layout = await readConfigFile(context, bootLayoutPath);
    const unit = await readConfigFile(context, bootUnitPath);
    const parsed = layout.text === null ? null : parseBootLayout(layout.text);
    const link = await linked(context);
    const partial: Gap[] = [
      ...(layout.gap ? [{ ...layout.gap, path: 'layoutFile' }] : []),
      ...(unit.gap ? [{ ...unit.gap, path: 'unitFile' }] : []),
      ...(typeof link === 'string' ? [{ path: 'enabled', because: link }] : []),
    ];
    return {
      value: {
        layoutFile: parsed === null || parsed.ok ? layout.file : { ...layout.file, error: parsed.error },
        layout: parsed?.ok ? parsed.layout : null,
        unitFile: unit.file,
        unitIsCurrent: unit.text === bootUnitText,
        enabled: typeof link === 'string' ? null : link,
      },
      unreadable: null,
      partial,
    };
  },
});

async function linked({ host }: ProbeContext): Promise<boolean | string> {
  const link = await host.lstat(bootUnitLink);
  if (link.ok) return true;
  return link.because === 'absent' ? false : link.because;
}

export { bootLayoutPath, bootUnit, bootUnitPath, bootUnitText } from './boot-unit.ts';
export * from './fact.ts';
export * from './parse-boot-layout.ts';
