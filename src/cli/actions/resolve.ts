import { InputError } from '../../domain/problems.ts';
import type { Resolution } from '../../domain/runs.ts';
import type { EngineContext } from '../../engine/context.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { listNamedDoubts, type NamedRequests, resolveDoubts } from '../../engine/runs/resolve-doubts.ts';
import { doubtTable, formatResolved } from '../../report/doubts.ts';
import { formatReasonOf } from '../../report/reason-text-of.ts';
import { chooseRun } from '../choose-run.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export type ResolveOptions = {
  readonly request?: readonly string[];
  readonly answer?: string;
  readonly accepted?: true;
  readonly resend?: true;
  readonly abandon?: true;
  readonly lookUp?: true;
  readonly reason?: string;
  readonly by?: string;
  readonly json?: true;
};

export async function resolveAction(shell: Shell, name: string, options: ResolveOptions): Promise<void> {
  const named = async (context: EngineContext): Promise<NamedRequests> => {
    return { run: await chooseRun(shell, context, name), named: options.request, answer: options.answer };
  };
  const resolution = resolutionOf(options);
  if (resolution)
    await withLedger(shell, async (context) =>
      resolveRequests(shell, context, await named(context), { resolution, ...options }),
    );
  else if (options.lookUp) {
    // The gateway is most of what the command would load.
    const { lookUp } = await import('../look-up.ts');
    await withLedger(shell, async (context) => lookUp(shell, context, await named(context), options));
  } else
    await withLedgerToRead(shell, async (context) =>
      listRequests(shell, context, await named(context), options),
    );
}

/** @throws InputError for a resolution without a reason, or a reason without a resolution */
function resolutionOf({ accepted, resend, abandon, reason, by }: ResolveOptions): Resolution | undefined {
  const resolution = accepted ? 'accepted' : resend ? 'resend' : abandon ? 'abandon' : undefined;
  if (resolution === undefined && (reason !== undefined || by !== undefined)) {
    const what = 'It needs one of --accepted, --resend and --abandon.';
    throw new InputError([{ where: reason === undefined ? '--by' : '--reason', what }]);
  }
  if (resolution !== undefined && !reason?.trim()) {
    const what = `--${resolution} needs a reason, such as --reason "seen in the service's own list".`;
    throw new InputError([{ where: '--reason', what }]);
  }
  return resolution;
}

const maxTableRows = 100;

async function listRequests(
  shell: Shell,
  context: EngineContext,
  requests: NamedRequests,
  { json }: ResolveOptions,
): Promise<void> {
  let doubts = 0;
  for await (const page of await listNamedDoubts(context, requests)) {
    if (json) shell.print(page.map((doubt) => JSON.stringify(formatReasonOf(doubt))).join('\n'));
    else if (doubts === 0) shell.print(doubtTable(page.slice(0, maxTableRows), shell.screen));
    doubts += page.length;
  }
  if (json) return;
  if (doubts === 0) {
    shell.print(`No request of run ${requests.run} is in doubt.`);
    return;
  }
  if (doubts > maxTableRows)
    shell.note(`The table has the first ${maxTableRows} of ${doubts} requests; --json lists all.`);
  const ask = (await hasLookUp(shell, context, requests.run))
    ? `\`volley resolve ${requests.run} --look-up\` asks the service. `
    : '';
  shell.note(`${ask}--accepted, --resend or --abandon with --reason "…" resolves them.`);
}

/** False for an account that cannot be read: the command that asks says why. */
async function hasLookUp(shell: Shell, context: EngineContext, run: string): Promise<boolean> {
  const { account } = await requireRun(context, run);
  // Commands that resolve load no accounts.
  const { loadAccount } = await import('../../engine/load-account.ts');
  return loadAccount(account, shell.settings).then(
    ({ statusLookUp }) => statusLookUp,
    () => false,
  );
}

async function resolveRequests(
  shell: Shell,
  context: EngineContext,
  requests: NamedRequests,
  {
    resolution,
    by = context.actor.name,
    reason = '',
    json,
  }: ResolveOptions & { readonly resolution: Resolution },
): Promise<void> {
  const resolved = await resolveDoubts(context, requests, { resolution, by, reason: reason.trim() });
  const recipients = resolved.reduce((sum, one) => sum + one.recipients, 0);
  const result = { run: requests.run, resolution, requests: resolved.length, recipients };
  shell.print(json ? JSON.stringify(result) : formatResolved(result));
}
