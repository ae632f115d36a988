import { Problem } from '@gpufleet/shared/api';

/** Documents that every call may answer with problem details. */
export const problemReplies = { '4xx': Problem, '5xx': Problem } as const;

export const problemContentType = 'application/problem+json; charset=utf-8';
