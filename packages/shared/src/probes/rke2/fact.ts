import type { z } from 'zod';
import { K3sFact } from '../k3s/fact.ts';

/** The same parts as those of k3s, under other names. */
export const Rke2Fact = K3sFact;
export type Rke2Fact = z.infer<typeof Rke2Fact>;
