import { setFlagsFromString } from 'node:v8';

// An agent parses a few reports a minute and then waits: V8's compilers, and room for garbage, would cost it 10 MiB
// and save next to no time. Before the parts that do the work are loaded, since what is there by then stays.
for (const flag of ['--no-opt', '--no-sparkplug', '--optimize-for-size', '--semi-space-growth-factor=1'])
  setFlagsFromString(flag);
