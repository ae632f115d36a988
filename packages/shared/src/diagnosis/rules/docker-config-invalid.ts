import { defineRule } from '../define-rule.ts';
import { isActive } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { isNoFile, unreadConfig } from './docker-parts.ts';

export const dockerConfigInvalid = defineRule({
  code: 'DOCKER_CONFIG_INVALID',
  layer: 'engine',
  severity: 'blocker',
  title:
    'Docker’s configuration file is not valid JSON, gives a directive a value that dockerd does not take, or is no file ' +
    'at all (a folder, a loop of links, a pipe), whether or not the daemon still runs',
  notWhen: 'the file is absent; keys that we do not know; docker is not installed',
  proposes: [],
  needs: ['docker'],
  excludedBy: ({ docker }) => docker !== null && (!docker.installed || !docker.configFile.present),
  check({ docker }) {
    const { configFile } = docker;
    if (configFile.error === null) return [];
    // Without a hash the bytes were never read: that is no verdict on what they say.
    const unread = unreadConfig(docker);
    if (unread) return unread;
    const fault = isNoFile(configFile)
      ? 'is no file that can be read'
      : configFile.error.startsWith('wrong_type')
        ? 'has values of a type that dockerd does not take'
        : 'is not valid JSON';
    return [
      {
        subject: `file:${configFile.path}`,
        severity: 'blocker',
        summary: isActive(docker.unit)
          ? `${configFile.path} ${fault}: docker runs on, but will not start again`
          : `${configFile.path} ${fault}: docker cannot start`,
        evidence: [{ source: sources.file(configFile.path), quote: configFile.error }],
        remedy: null,
        person:
          `Correct ${configFile.path}, check it with \`dockerd --validate --config-file ${configFile.path}\`, ` +
          'then start docker. Nothing here restarts docker before that.',
      },
    ];
  },
});
