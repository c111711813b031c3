import type { EngineContext } from '../engine/context.ts';
import { findNamedRun } from '../engine/runs/named-run.ts';
import { printable } from '../report/printable.ts';
import { formatCampaign } from '../report/run-summary.ts';
import type { Shell } from './shell.ts';

/**
 * The id of the run that the user names, by its id, the beginning of one, or `latest`. Prints which run that is, unless
 * the user wrote its whole id. The caller reports an unknown run.
 *
 * @throws InputError for an ambiguous name
 */
export async function chooseRun(
  shell: Pick<Shell, 'note'>,
  context: EngineContext,
  name: string,
  filter?: Parameters<typeof findNamedRun>[2],
): Promise<string> {
  const found = await findNamedRun(context, name, filter);
  if (found === undefined) return name;
  if (found.run !== name)
    shell.note(`  run      ${found.run} (${printable(formatCampaign(found))}, ${found.state})`);
  return found.run;
}
