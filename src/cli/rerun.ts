import { InputError } from '../domain/problems.ts';
import type { RerunState } from '../domain/runs.ts';
import type { EngineContext } from '../engine/context.ts';
import { loadAccount } from '../engine/load-account.ts';
import { planRerun } from '../engine/plan/rerun.ts';
import { requireRun } from '../engine/runs/find-run.ts';
import { requireReachable } from '../engine/runs/require-reachable.ts';
import type { Run } from '../ledger/runs/find.ts';
import { chooseRun } from './choose-run.ts';
import { dispatchAndPrint } from './dispatch-and-print.ts';
import type { Shell } from './shell.ts';
import { accountOfRun, type Surroundings, withSurroundings } from './surroundings.ts';

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
    limit !== undefined ||
    only === undefined ||
    of === undefined
  ) {
    const what =
      '--only needs --of, and takes no campaign, --contacts, --limit or --again, because it uses those of the run. For fixed contacts, name the campaign and --contacts, without --only.';
    throw new InputError([{ where: 'volley run', what }]);
  }
  let found: Promise<Run> | undefined;
  // A test reached no recipient.
  const findSource = (context: EngineContext): Promise<Run> =>
    (found ??= chooseRun(shell, context, of, { kind: 'ordinary' }).then((run) => requireRun(context, run)));
  const findAccounts = async (context: EngineContext) => [accountOfRun(await findSource(context))] as const;
  await withSurroundings(shell, sandbox, findAccounts, (around) =>
    around.open(async (context) =>
      sendAgain(around, context, await findSource(context), { only, json: json === true }),
    ),
  );
}

async function sendAgain(
  { shell, open: _, ...awaiting }: Surroundings,
  context: EngineContext,
  { run: source, account: name }: Run,
  { only, json }: { readonly only: readonly RerunState[]; readonly json: boolean },
): Promise<void> {
  const account = await loadAccount(name, shell.settings);
  await requireReachable(account);
  const run = await planRerun(context, { of: source, states: only, account });
  shell.note(`  planned  run ${run}: ${only.join(', ')} of run ${source}`);
  if (only.includes('unknown')) {
    shell.note('  Recipients whose state was unknown may have the message already, and get it again.');
  }
  shell.exitWith(
    await dispatchAndPrint(shell, context, { run, account, json, includePaused: false, ...awaiting }),
  );
}
