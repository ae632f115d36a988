import { defineRule, type Found } from '../define-rule.ts';
import { toolkitQuote } from './toolkit-parts.ts';
import { failedStarts, foundOrUntold, nameOf, subjectOf, surelyNone, untoldStarts } from './workload-parts.ts';

const killed = /ldcache error: process \S*ldconfig\S* terminated with signal (\d+)/i;

export const legacyHookLdconfigFailed = defineRule({
  code: 'LEGACY_HOOK_LDCONFIG_FAILED',
  layer: 'toolkit',
  severity: 'blocker',
  title:
    'A start failed because the ldconfig that the legacy hook runs was ended by a signal, and nothing ran out of memory',
  notWhen: 'the toolkit injects by CDI; the kernel killed for lack of memory in this boot; an image without ldconfig',
  proposes: ['set_toolkit_config', 'generate_cdi'],
  needs: ['jetson', 'toolkit', 'kernel_log', 'workloads'],
  onTegra: 'never',
  excludedBy: ({ toolkit, workloads }) => toolkit?.config.mode === 'cdi' || surelyNone(workloads, ['ldconfig'], killed),
  check({ toolkit, kernel_log, workloads }, asked) {
    const isOutOfMemory = kernel_log.events.some(({ kind }) => kind === 'oom_kill');
    const found = failedStarts(workloads, 'ldconfig', killed).flatMap(({ container, text, evidence }): Found[] => {
      // Signal 9 is what the kernel sends when memory is short.
      const signal = killed.exec(text)?.[1];
      if (signal === '9' && isOutOfMemory) return [];
      return [
        {
          subject: subjectOf(container),
          severity: 'blocker',
          summary: `${nameOf(container)} did not start: the toolkit’s ldconfig was ended by signal ${signal}`,
          evidence: [evidence, toolkitQuote(toolkit, 'mode')],
          remedy: {
            jobs: [
              { kind: 'generate_cdi', params: {} },
              { kind: 'set_toolkit_config', params: { mode: 'cdi' } },
            ],
            approval: 'approve',
          },
          person: null,
        },
      ];
    });
    return foundOrUntold(found, untoldStarts(workloads, asked));
  },
});
