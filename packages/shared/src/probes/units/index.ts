import { defineProbe } from '../define-probe.ts';
import { readUnitStates, unitStatesCommands } from '../read-unit-states.ts';

export const unitsProbe = defineProbe({
  key: 'units',
  title: 'systemd units that matter to GPUs and containers: state, start, failures',
  everyMs: 60_000,
  inputs: { files: [], commands: unitStatesCommands },
  async collect({ host }) {
    const states = await readUnitStates(host);
    if (states.known.length === 0 && states.because !== null) {
      const detail = states.because === 'no_systemd' ? 'systemd does not run here' : 'systemctl show gave no states';
      return { value: null, unreadable: { because: states.because, detail } };
    }
    const failedNames = states.known.filter(({ activeState }) => activeState === 'failed').map(({ name }) => name);
    const partial = states.because === null ? [] : [{ path: 'units', because: states.because }];
    return { value: { units: states.known, failedNames }, unreadable: null, partial };
  },
});
