import { at, booleanAt, listAt, stringAt, stringsAt, type Tree, textAt, textsAt, treeAt } from '../values.ts';
import type { PluginSpec } from './device-plugin-fact.ts';

/** Of a pod or of a pod template: both have metadata and spec. */
export function toPluginSpec(pod: Tree, container: Tree): PluginSpec {
  const image = textAt(container, 'image');
  const volumes = listAt(pod, 'spec', 'volumes');
  const annotations = Object.entries(treeAt(pod, 'metadata', 'annotations') ?? {});
  const mount = listAt(container, 'volumeMounts').find((one) =>
    /\/device-plugins\/?$/.test(textAt(one, 'mountPath') ?? ''),
  );
  const volume = volumes.find((one) => textAt(one, 'name') === textAt(mount, 'name') && mount !== undefined);
  const terms = at(
    ...([pod, 'spec', 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution'] as const),
    'nodeSelectorTerms',
  );
  return {
    container: textAt(container, 'name'),
    image,
    version: /:(v?\d[\w.-]*?)(?:-ubi\d+|-ubuntu[\d.]+)?(?:@|$)/.exec(image ?? '')?.[1] ?? null,
    runtimeClassName: textAt(pod, 'spec', 'runtimeClassName'),
    args: flagsOf([...stringsAt(container, 'command'), ...stringsAt(container, 'args')]),
    env: toEnv(container),
    cdiDevices: annotations.flatMap(([key, value]) =>
      /^cdi\.k8s\.io\//.test(key) && typeof value === 'string' ? value.split(',') : [],
    ),
    privileged: booleanAt(container, 'securityContext', 'privileged') ?? false,
    socketHostPath: textAt(volume, 'hostPath', 'path')?.replace(/(?<=.)\/+$/, '') ?? null,
    socketVolume: textAt(volume, 'name'),
    configMaps: configMapsOf(container, volumes),
    nodeSelector: textsAt(pod, 'spec', 'nodeSelector'),
    affinity: (Array.isArray(terms) ? terms : []).map((term) => [
      ...toExpressions(term, 'matchExpressions', false),
      ...toExpressions(term, 'matchFields', true),
    ]),
    tolerations: listAt(pod, 'spec', 'tolerations').map((one) => ({
      key: textAt(one, 'key'),
      operator: textAt(one, 'operator') ?? 'Equal',
      value: stringAt(one, 'value'),
      effect: textAt(one, 'effect'),
    })),
  };
}

/** Flags and their values: `--flag=value`, or the word after a flag. */
function flagsOf(words: readonly string[]): string[] {
  return words.filter((word, at) => word.startsWith('-') || /^-[^=]*$/.test(words[at - 1] ?? ''));
}

/** Only variables that the plugin itself knows: others may hold anything. */
const ownVariables =
  /^(MIG_STRATEGY|FAIL_ON_INIT_ERROR|DEVICE_(LIST|ID|DISCOVERY)_STRATEGY|PASS_DEVICE_SPECS|CONFIG_FILE|NVIDIA_[A-Z_]+|MPS_ROOT|CDI_[A-Z_]+|DP_(DIS|EN)ABLE_HEALTHCHECKS|CONTAINER_DRIVER_ROOT|NODE_LABEL|DEFAULT_CONFIG)$/;

function toEnv(container: Tree): PluginSpec['env'] {
  const pairs = listAt(container, 'env').flatMap((one) => {
    const name = textAt(one, 'name') ?? '';
    return ownVariables.test(name) ? [[name, stringAt(one, 'value')?.slice(0, 500) ?? null] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function configMapsOf(container: Tree, volumes: readonly unknown[]): string[] {
  const mounted = volumes.flatMap((volume) => [
    textAt(volume, 'configMap', 'name'),
    ...listAt(volume, 'projected', 'sources').map((source) => textAt(source, 'configMap', 'name')),
  ]);
  const variables = [
    ...listAt(container, 'env').map((one) => textAt(one, 'valueFrom', 'configMapKeyRef', 'name')),
    ...listAt(container, 'envFrom').map((one) => textAt(one, 'configMapRef', 'name')),
  ];
  return [...new Set([...mounted, ...variables].filter((name) => name !== null))];
}

function toExpressions(term: unknown, list: string, isField: boolean): PluginSpec['affinity'][number] {
  return listAt(term, list).flatMap((one) => {
    const [key, operator] = [textAt(one, 'key'), textAt(one, 'operator')];
    return key === null || operator === null ? [] : [{ key, operator, values: stringsAt(one, 'values'), isField }];
  });
}
