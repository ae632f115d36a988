import { templateProblem } from './k3s-template-problem.ts';

export const rke2TemplateProblem = templateProblem('rke2');
