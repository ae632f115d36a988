import { defineRule } from '../define-rule.ts';
import { isSnapDocker } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { unreadConfig } from './docker-parts.ts';
import { isNvidiaHandler } from './kubelet-engine.ts';

export const dockerRuntimeIncomplete = defineRule({
  code: 'DOCKER_RUNTIME_INCOMPLETE',
  layer: 'engine',
  severity: 'blocker',
  title:
    'The program of docker’s runtime nvidia, or of its default runtime, is not on the disk: dockerd starts all the same, ' +
    'and every container of that runtime fails',
  notWhen: 'the program is found on the search path of a service; it lies where nobody looked; docker is the snap',
  proposes: ['configure_runtime'],
  needs: ['docker', 'toolkit'],
  consequenceOf: ['DOCKER_CONFIG_INVALID', 'OPERATOR_LEFTOVER_RUNTIME', 'TOOLKIT_NOT_INSTALLED'],
  excludedBy: ({ docker }) =>
    docker !== null && (!docker.installed || !docker.configFile.present || isSnapDocker(docker)),
  check({ docker, toolkit }) {
    const unread = unreadConfig(docker);
    if (unread) return unread;
    const { config, configFile } = docker;
    const isDefault = (name: string) => config?.defaultRuntime === name;
    return (docker.runtimePrograms ?? [])
      .filter(({ name, present }) => present === false && (isNvidiaHandler(name) || isDefault(name)))
      .map(({ name, program }) => {
        const own =
          name === 'nvidia' ? toolkit.binaries.find((one) => one.name === 'nvidia-container-runtime') : undefined;
        return {
          subject: `file:${configFile.path}`,
          severity: 'blocker' as const,
          summary: `Docker’s runtime ${name} names ${program}, which does not exist: ${isDefault(name) ? 'every container' : 'each container that asks for it'} fails to start`,
          evidence: [
            { source: sources.file(configFile.path), quote: `"${name}": "path": "${program}"` },
            ...(isDefault(name)
              ? [{ source: sources.file(configFile.path), quote: `"default-runtime": "${name}"` }]
              : []),
            {
              source: sources.file(program.startsWith('/') ? program : `/usr/bin/${program}`),
              quote: program.startsWith('/') ? 'absent' : 'absent, as in the other folders of a service’s search path',
            },
          ],
          remedy: own
            ? {
                jobs: [{ kind: 'configure_runtime' as const, params: { runtime: 'docker', runtimePath: own.path } }],
                approval: 'window' as const,
              }
            : null,
          person: own
            ? null
            : `Correct the path of ${name} in ${configFile.path}, or install the program that it names.`,
        };
      });
  },
});
