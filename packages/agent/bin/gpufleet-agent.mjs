#!/usr/bin/env node
import { runProgram } from '../../../scripts/run-program.mjs';

await runProgram('agent');
