import { setFlagsFromString } from 'node:v8';

// An agent parses a few reports a minute: the optimising compiler costs 4 MiB, and on such work more time than it saves.
// Imported first of all, since what loads before has it already.
setFlagsFromString('--no-opt');
