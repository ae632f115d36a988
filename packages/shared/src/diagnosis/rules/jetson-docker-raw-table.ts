import type { JobRequest } from '../../jobs/job-request.ts';
import { defineRule } from '../define-rule.ts';
import { sources } from '../sources.ts';

const firstVersion = 28;

const olderDocker: JobRequest[] = [
  { kind: 'repair_packages', params: { packages: ['docker-ce', 'docker-ce-cli'], version: '27.5.1' } },
  { kind: 'hold_packages', params: { packages: ['docker-ce', 'docker-ce-cli'] } },
];

export const jetsonDockerRawTable = defineRule({
  code: 'JETSON_DOCKER_RAW_TABLE',
  layer: 'engine',
  severity: 'blocker',
  title: 'Docker 28 or later on a Tegra kernel without iptable_raw: containers on a bridge get no network',
  notWhen: 'the module is there; docker is told to do without the raw table or without iptables; older docker',
  proposes: ['repair_packages', 'hold_packages'],
  needs: ['jetson', 'docker', 'packages', 'os'],
  excludedBy: ({ jetson, docker }) =>
    docker?.installed === false ||
    (jetson !== null && (!jetson.isTegra || jetson.hasRawTable === true || jetson.rawTableSkippedBy !== null)),
  check({ jetson, docker, packages, os }, asked) {
    if (!jetson.isTegra || !docker.installed) return [];
    const engine = packages.packages.find(({ name }) => name === 'docker-ce' || name === 'docker.io');
    const version = docker.live?.version ?? engine?.version.replace(/^\d+:/, '') ?? null;
    const major = Number.parseInt(version ?? '', 10);
    if (version === null || Number.isNaN(major)) return { cannotTell: 'the version of docker is not known' };
    if (major < firstVersion || jetson.hasRawTable === true || jetson.rawTableSkippedBy !== null) return [];
    if (jetson.hasRawTable === null)
      return {
        cannotTell: `whether the kernel has iptable_raw is not known: ${asked.unread('jetson', 'hasRawTable')}`,
      };
    const list = `/lib/modules/${os.kernel ?? ''}/modules.dep`;
    return [
      {
        subject: 'unit:docker.service',
        severity: 'blocker',
        summary: `Docker ${version} wants the iptables table "raw", which this kernel does not have: containers on a bridge do not start`,
        evidence: [
          { source: sources.file(list), quote: 'iptable_raw.ko: not listed' },
          docker.live?.version
            ? { source: sources.docker, quote: `"ServerVersion":"${version}"` }
            : { source: sources.packages, quote: `${engine?.name} ${engine?.version}` },
        ],
        remedy: {
          jobs: olderDocker,
          approval: 'approve',
        },
        person: null,
      },
    ];
  },
});
