import { defineRule, type Found } from '../define-rule.ts';
import { failedStarts, foundOrUntold, nameOf, subjectOf, surelyNone, untoldStarts } from './workload-parts.ts';

const fileExists = /(?:lib(?:nvidia|cuda|nv)[\w.-]*|nvidia-\w+): file exists/i;

export const imageCarriesDriverLibs = defineRule({
  code: 'IMAGE_CARRIES_DRIVER_LIBS',
  layer: 'workload',
  severity: 'info',
  title: 'A start failed because a driver library that the toolkit mounts is in the image already (“file exists”)',
  notWhen: 'Tegra: there the same words mean an image of another L4T release; a file that is none of the driver’s',
  proposes: [],
  needs: ['jetson', 'workloads'],
  onTegra: 'never',
  excludedBy: ({ workloads }) => surelyNone(workloads, ['file_exists'], fileExists),
  check({ workloads }, asked) {
    const found = failedStarts(workloads, 'file_exists', fileExists).map(
      ({ container, evidence }): Found => ({
        subject: subjectOf(container),
        severity: 'info',
        summary: `${nameOf(container)} has driver libraries in its image${container?.image ? ` (${container.image})` : ''}: they stand in the way of the host’s`,
        evidence: [evidence],
        remedy: null,
        person:
          'Build the image anew without driver packages (libnvidia-…), and not from a container that had GPUs; nothing is wrong with the host.',
      }),
    );
    return foundOrUntold(found, untoldStarts(workloads, asked));
  },
});
