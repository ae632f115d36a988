import type { Agent } from '../../agent.ts';
import type { Answer } from './listen.ts';

/** What a running agent answers to the commands on its host: manual jobs take the same lock as the server's. */
export function answerFor(agent: Pick<Agent, 'engine' | 'status'>): Answer {
  return async (request) => {
    switch (request.do) {
      case 'status':
        return { type: 'status', status: await agent.status() };
      case 'run':
        return { type: 'result', result: await agent.engine.runLocal(request.request, request.planHash) };
      case 'undo':
        return { type: 'result', result: await agent.engine.undo(request.attemptId) };
      case 'release':
        return { type: 'released', quarantine: await agent.engine.release(request.reason) };
    }
  };
}
