import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { l4tEvidence } from './jetson-parts.ts';
import { containerSource, type DockerContainer, nameOf, subjectOf } from './workload-parts.ts';

export const jetsonImageReleaseMismatch = defineRule({
  code: 'JETSON_IMAGE_RELEASE_MISMATCH',
  layer: 'workload',
  severity: 'info',
  title:
    'On a Jetson, an image made for another L4T release (tag rNN.N): another major, or a newer minor than the host’s',
  notWhen: 'plain CUDA and Ubuntu images, which carry no such tag; an older minor of the same major',
  proposes: [],
  needs: ['jetson', 'workloads'],
  excludedBy: ({ jetson, workloads }) =>
    jetson?.isTegra === false ||
    (workloads !== null && (workloads.docker ?? []).every(({ image }) => releaseOf(image) === null)),
  check({ jetson, workloads }) {
    const containers = (workloads.docker ?? []).filter(({ image }) => releaseOf(image) !== null);
    const [major, minor = 0] = jetson.l4t?.split('.').map(Number) ?? [];
    if (major === undefined) return { cannotTell: 'the board does not say which L4T release it runs' };
    return containers.flatMap((container) => mismatchOf(container, jetson, major, minor));
  },
});

function mismatchOf(container: DockerContainer, jetson: FactValue<'jetson'>, major: number, minor: number): Found[] {
  const wanted = releaseOf(container.image);
  if (!wanted || (wanted.major === major && wanted.minor <= minor)) return [];
  return [
    {
      subject: subjectOf(container),
      severity: 'info',
      summary: `${nameOf(container)} has an image for L4T ${wanted.major}.${wanted.minor}; this board runs ${jetson.l4t}`,
      evidence: [{ source: containerSource(container), quote: `"Image":"${container.image}"` }, l4tEvidence(jetson)],
      remedy: null,
      person: `Take an image for L4T ${major}: installing the host anew or another runtime changes nothing.`,
    },
  ];
}

/** `r36.4.0`, `r32.7.1-py3` in the tag of an image for L4T. */
function releaseOf(image: string | null): { major: number; minor: number } | null {
  const match = /[:_-]r(\d{2})\.(\d{1,2})(?![\d])/.exec(image ?? '');
  return match ? { major: Number(match[1]), minor: Number(match[2]) } : null;
}
