import { InputError } from '../domain/problems.ts';
import { loadCampaign } from '../engine/load-definition.ts';
import { isRunId } from '../engine/runs/named-run.ts';
import { chooseRun } from './choose-run.ts';
import { type Shell, withLedgerIfAny } from './shell.ts';

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
