import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import { firstLine, runCommand } from '../run-command.ts';

/** kubectl with the rights that this host has, and what those rights are. */
export interface KubeReader {
  argv: readonly string[];
  rights: 'admin' | 'node';
}

export const adminConf = '/etc/kubernetes/admin.conf';
export const kubeletConf = '/etc/kubernetes/kubelet.conf';
export const rke2Conf = '/etc/rancher/rke2/rke2.yaml';
export const microk8sConf = '/var/snap/microk8s/current/credentials/client.config';

export const kubeReaders = {
  k3s: { argv: ['k3s', 'kubectl'], rights: 'admin' },
  rke2: { argv: ['/var/lib/rancher/rke2/bin/kubectl', '--kubeconfig', rke2Conf], rights: 'admin' },
  microk8s: { argv: ['/snap/microk8s/current/kubectl', '--kubeconfig', microk8sConf], rights: 'admin' },
  kubeadm: { argv: ['kubectl', '--kubeconfig', adminConf], rights: 'admin' },
  kubelet: { argv: ['kubectl', '--kubeconfig', kubeletConf], rights: 'node' },
} as const satisfies Record<string, KubeReader>;

/** Few questions, each for all of what it can give; `*` in declared arguments stands for a name. */
export const questions = {
  node: (name: string) => ['get', 'node', name, '-o', 'json'],
  classes: () => ['get', 'runtimeclasses', '-o', 'json'],
  /** The two kinds in one answer; a kubelet's rights do not reach to DaemonSets. */
  classesAndDaemonSets: () => ['get', 'runtimeclasses,daemonsets', '-A', '-o', 'json'],
  pods: (node: string) => ['get', 'pods', '-A', '--field-selector', `spec.nodeName=${node}`, '-o', 'json'],
  configMaps: (namespace: string) => ['get', 'configmaps', '-n', namespace, '-o', 'json'],
  events: () => [
    ...['get', 'events', '-A', '--field-selector', 'type=Warning,involvedObject.kind=Pod'],
    ...['-o', 'json'],
  ],
  log: (namespace: string, pod: string, container: string) => [
    ...['logs', '-n', namespace, pod, '-c', container, '--tail=400'],
  ],
} as const;

export function declaredCommands(): { argv: readonly string[]; required: false }[] {
  return Object.values(kubeReaders).flatMap(({ argv, rights }) => {
    const own = [questions.node('*'), questions.pods('*')];
    const asked =
      rights === 'node'
        ? [...own, questions.classes()]
        : [
            ...own,
            questions.classesAndDaemonSets(),
            questions.configMaps('*'),
            questions.events(),
            questions.log('*', '*', '*'),
          ];
    return asked.map((question) => ({ argv: [...argv, ...question], required: false as const }));
  });
}

/** Asks the API as long as it answers: a server that is down is waited for once, not with every question. */
export interface Api {
  rights: KubeReader['rights'];
  /** The command line, for evidence. */
  source(question: readonly string[]): string;
  ask<T>(
    question: readonly string[],
    paths: readonly string[],
    read: (text: string) => ReadAnswer<T>,
  ): Promise<T | null>;
}

type ReadAnswer<T> = { value: T | null; unreadable: readonly Gap[] };

export function createApi(host: HostReader, reader: KubeReader, partial: Gap[]): Api {
  let down: string | null = null;
  return {
    rights: reader.rights,
    source: (question) => `command:${[...reader.argv, ...question].join(' ')}`,
    async ask(question, paths, read) {
      const answer = down === null ? await ask(host, reader, question, read) : { because: down, down };
      if ('value' in answer) return answer.value;
      down = answer.down;
      for (const path of paths) partial.push({ path, because: answer.because });
      return null;
    },
  };
}

async function ask<T>(
  host: HostReader,
  reader: KubeReader,
  question: readonly string[],
  read: (text: string) => ReadAnswer<T>,
): Promise<{ value: T } | { because: string; down: string | null }> {
  const said = await runCommand(host, [...reader.argv, ...question]);
  if (!said.ok) return { because: said.because, down: said.because === 'not_recorded' ? null : said.because };
  if (said.ran.exitCode !== 0) {
    const because = `not_answering: ${firstLine(said.ran)}`;
    const isDown = /refused|Unable to connect|i\/o timeout|no route to host|TLS handshake|certificate/i.test(because);
    return { because, down: isDown ? because : null };
  }
  if (said.ran.truncated) return { because: 'too_large', down: null };
  const { value, unreadable } = read(said.text);
  return value === null ? { because: unreadable[0]?.because ?? 'no_value', down: null } : { value };
}
