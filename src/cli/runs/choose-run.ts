import { InputError } from '../../domain/problems.ts';
import type { EngineContext } from '../../engine/context.ts';
import { loadCampaign } from '../../engine/load-definition.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { findNamedRun, isRunId } from '../../engine/runs/named-run.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { printable } from '../../report/printable.ts';
import { formatCampaign } from '../../report/run/run-summary.ts';
import { type Shell, withLedgerIfAny } from '../shell.ts';

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
  if (found.run !== name) noteRun(shell, found);
  return found.run;
}

/** Says which run was chosen, and of several cells in which. */
export function noteRun(shell: Pick<Shell, 'note'>, run: ListedRun, cell?: string): void {
  const place = cell === undefined ? '' : ` in cell ${cell}`;
  shell.note(`  run      ${run.run} (${printable(formatCampaign(run))}, ${run.state})${place}`);
}

/** Chooses the run of a command that is about one run or all. @throws InputError for an unknown one */
export async function chooseAnyRun(
  shell: Pick<Shell, 'note'>,
  context: EngineContext,
  name: string | undefined,
): Promise<string | undefined> {
  if (name === undefined) return undefined;
  const { run } = await requireRun(context, await chooseRun(shell, context, name));
  return run;
}

/**
 * The run of `--of`, before the campaign is prepared. `latest` is the newest run of the same campaign that is no test.
 */
export async function chooseOrigin(
  shell: Shell,
  campaignPath: string,
  name: string | undefined,
): Promise<string | undefined> {
  if (name === undefined || isRunId(name)) return name;
  const { campaign } = (await loadCampaign(campaignPath, shell.settings)).value;
  return withLedgerIfAny(shell, async (context) => {
    if (context) return chooseRun(shell, context, name, { campaign, kind: 'ordinary' });
    const what = 'There is no ledger here, so there is no run to name.';
    throw new InputError([{ where: '--of', what }]);
  });
}
