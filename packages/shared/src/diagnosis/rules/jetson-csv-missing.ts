import { defineRule } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { l4tEvidence } from './jetson-parts.ts';

const folder = '/etc/nvidia-container-runtime/host-files-for-container.d';
/** On L4T 32 containers get these libraries from the host; later releases have them in the image. */
const wanted = ['cuda.csv', 'cudnn.csv', 'tensorrt.csv'];

export const jetsonCsvMissing = defineRule({
  code: 'JETSON_CSV_MISSING',
  layer: 'toolkit',
  severity: 'blocker',
  title: 'L4T 32 without the lists that put CUDA, cuDNN and TensorRT of the host into containers',
  notWhen: 'L4T 35 and later, whose images bring these libraries; no toolkit',
  proposes: ['repair_packages'],
  needs: ['jetson', 'toolkit'],
  excludedBy: ({ jetson, toolkit }) =>
    toolkit?.installed === false ||
    (jetson !== null && (!jetson.isTegra || (jetson.l4t !== null && !jetson.l4t.startsWith('32.')))),
  check({ jetson, toolkit }, asked) {
    if (!jetson.isTegra || !toolkit.installed) return [];
    if (jetson.l4t === null)
      return { cannotTell: `the L4T release is not known: ${asked.unread('jetson', 'l4t') ?? 'absent'}` };
    if (!jetson.l4t.startsWith('32.')) return [];
    const unread = asked.unread('jetson', 'csvFiles');
    if (unread) return { cannotTell: `${folder} could not be listed: ${unread}` };
    const present = jetson.csvFiles ?? [];
    const missing = wanted.filter((name) => !present.includes(name));
    if (missing.length === 0) return [];
    return [
      {
        subject: `file:${folder}`,
        severity: 'blocker',
        summary: `${missing.join(', ')} are missing: containers on L4T ${jetson.l4t} find no CUDA libraries`,
        evidence: [
          l4tEvidence(jetson),
          { source: sources.file(folder), quote: jetson.csvFiles === null ? 'absent' : present.join(' ') || 'empty' },
        ],
        remedy: {
          jobs: [
            {
              kind: 'repair_packages',
              params: { reinstall: missing.map((name) => `nvidia-container-csv-${name.replace('.csv', '')}`) },
            },
          ],
          approval: 'approve',
        },
        person: null,
      },
    ];
  },
});
