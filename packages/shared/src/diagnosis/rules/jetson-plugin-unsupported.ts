import { pinnedVersion } from '../../jobs/deploy-device-plugin/params.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { type Kube, surelyNoPlugin } from './device-plugin-parts.ts';

/** The first release that knows a GPU without NVML. */
const firstForTegra = [0, 13] as const;

export const jetsonPluginUnsupported = defineRule({
  code: 'JETSON_PLUGIN_UNSUPPORTED',
  layer: 'kubernetes',
  severity: 'blocker',
  title:
    'On a Tegra board: the device plugin is older than v0.13, or its chart is older than its image and the log does not know the platform',
  notWhen: 'x86; chart and image of one release; the plugin found the board',
  proposes: ['deploy_device_plugin'],
  needs: ['jetson', 'kube'],
  excludedBy: ({ jetson, kube }) =>
    jetson?.isTegra === false || (kube !== null && (!kube.present || surelyNoPlugin(kube))),
  check({ kube }, asked) {
    const { daemonSets, pods, logs } = kube.devicePlugin;
    const line = unknownPlatform(kube);
    const version = pods?.[0]?.spec.version ?? daemonSets?.[0]?.spec.version ?? null;
    const chart = daemonSets?.find(({ spec }) => spec.version === version)?.chart ?? null;
    const [image, made] = [minorOf(version), minorOf(chart)];
    const deploy = (wanted: string, summary: string, quote: string): Found[] => [
      {
        subject: null,
        severity: 'blocker',
        summary,
        evidence: [
          { source: daemonSets ? sources.daemonSets(kube) : sources.pods(kube), quote },
          ...(line ? [line] : []),
        ],
        // An image alone would be started without what its own chart gives it.
        ...(chart === null
          ? {
              remedy: { jobs: [{ kind: 'deploy_device_plugin', params: { version: wanted } }], approval: 'auto' },
              person: null,
            }
          : { remedy: null, person: `Upgrade the chart of the device plugin, which is ${chart}, to ${wanted}.` }),
      },
    ];
    if (image !== null && isOlder(image, firstForTegra))
      return deploy(
        pinnedVersion,
        `The device plugin ${version} does not know Tegra: v0.13 is the first that does`,
        `image tag ${version}`,
      );
    if (line === null) return [];
    if (version !== null && image !== null && made !== null && isOlder(made, image))
      return deploy(
        version,
        `The device plugin’s chart ${chart} starts the image ${version} without what that needs on a Jetson`,
        `chart ${chart}, image tag ${version}`,
      );
    if (chart !== null || logs.length === 0) return [];
    const because = asked.unread('kube', 'devicePlugin.daemonSets') ?? 'no chart made it';
    return {
      cannotTell: `the device plugin does not know the platform, and the version of its chart is not known: ${because}`,
    };
  },
});

function unknownPlatform(kube: Kube): { source: string; quote: string } | null {
  for (const { events, source } of kube.devicePlugin.logs) {
    const event = events.find(({ kind }) => kind === 'unknown_platform');
    if (event) return { source, quote: event.line };
  }
  return null;
}

function minorOf(version: string | null): readonly [number, number] | null {
  const match = /^v?(\d+)\.(\d+)/.exec(version ?? '');
  return match ? [Number(match[1]), Number(match[2])] : null;
}

function isOlder(one: readonly [number, number], other: readonly [number, number]): boolean {
  return one[0] < other[0] || (one[0] === other[0] && one[1] < other[1]);
}
