import { InputError } from '../domain/problems.ts';
import type { RerunState } from '../domain/runs.ts';
import type { EngineContext } from '../engine/context.ts';
import { loadAccount } from '../engine/load-account.ts';
import { planRerun } from '../engine/plan/rerun.ts';
import { requireRun } from '../engine/runs/find-run.ts';
import { requireReachable } from '../engine/runs/require-reachable.ts';
import { chooseRun } from './choose-run.ts';
import { dispatchAndPrint } from './dispatch-and-print.ts';
import { type Shell, withLedger } from './shell.ts';

export type RerunOptions = {
  readonly json?: true;
  readonly contacts?: readonly string[];
  readonly again?: boolean;
  readonly only?: readonly RerunState[];
  readonly of?: string;
  readonly limit?: number;
  readonly sandbox?: true;
};

/** `volley run --only … --of …`: sends again to recipients of an earlier run. */
export async function rerun(
  shell: Shell,
  path: string | undefined,
  { json, contacts, again, only, of, limit, sandbox }: RerunOptions,
): Promise<void> {
  if (
    path !== undefined ||
    contacts !== undefined ||
    again ||
    sandbox ||
    limit !== undefined ||
    only === undefined ||
    of === undefined
  ) {
    const what =
      '--only needs --of, and takes no campaign, --contacts, --limit, --again or --sandbox, because it uses those of the run. For fixed contacts, name the campaign and --contacts, without --only.';
    throw new InputError([{ where: 'volley run', what }]);
  }
  await withLedger(shell, async (context) => {
    // A test reached no recipient.
    const sourceRun = await chooseRun(shell, context, of, { kind: 'ordinary' });
    const account = await accountOf(context, shell, sourceRun);
    await requireReachable(account);
    const run = await planRerun(context, sourceRun, only, account);
    shell.note(`  planned  run ${run}: ${only.join(', ')} of run ${sourceRun}`);
    if (only.includes('unknown')) {
      shell.note('  Recipients whose state was unknown may have the message already, and get it again.');
    }
    shell.exitWith(
      await dispatchAndPrint(shell, context, run, account, { json: json === true, includePaused: false }),
    );
  });
}

async function accountOf(context: EngineContext, shell: Shell, run: string) {
  const { account } = await requireRun(context, run);
  return loadAccount(account, shell.settings);
}
