import { createRealHost } from '../host/real/index.ts';
import { applyMigLayout } from '../steps/apply-mig-layout.ts';
import { type Context, type ExitCode, exit } from './context.ts';

/** What gpufleet-mig.service runs at boot; its words go to the journal. */
export async function applyMigLayoutCommand({ clock, out, err }: Context): Promise<ExitCode> {
  const { done, problems } = await applyMigLayout(createRealHost({ clock }), clock);
  for (const line of done) out(`${line}\n`);
  for (const line of problems) err(`${line}\n`);
  return problems.length === 0 ? exit.fine : exit.bad;
}
