import type { Campaign } from '../../campaign/campaign.ts';
import type { BegunRun, ClaimMarks } from '../../domain/claim-marks.ts';
import { formatReason } from '../../domain/reasons.ts';
import { hasEnded, type RequestCounts } from '../../domain/runs.ts';
import { formatDuration } from '../../domain/scalar-text.ts';
import { listSentFiles } from '../../ledger/planning/read-decided.ts';
import { summariseRun } from '../../ledger/runs/describe-run.ts';
import { listUnfinishedRuns } from '../../ledger/runs/find.ts';
import { findRepeatedRun, type RepeatedRun } from '../../ledger/runs/repeats.ts';
import type { Connection, Transaction } from '../../ledger/session.ts';
import { findLostRuns, serviceOf } from '../dispatch/begun-runs.ts';
import { readUnreadFiles } from './fingerprint.ts';
import type { DecidedPlan } from './prove-plan.ts';

/**
 * Reads the files that are sent, and those beyond the limit: a later run without the limit is a repetition.
 *
 * @returns what `createFingerprint` describes
 */
export async function readFingerprint(
  client: Transaction,
  { prepared: { files }, staged: { fingerprint }, decided: { beyondLimit } }: DecidedPlan,
): Promise<Buffer> {
  await readUnreadFiles(fingerprint, await listSentFiles(client), files.read);
  await readUnreadFiles(fingerprint, beyondLimit?.files ?? [], files.readUnstored);
  return fingerprint.digest();
}

type NewRun = {
  /** Null in a preview. */
  readonly run: string | null;
  /** Undefined: the run may repeat another. */
  readonly fingerprint: Buffer | undefined;
  readonly marks: ClaimMarks;
  readonly now: Date;
};

/** A run that a new one repeats, and why it would be refused, with what the operator can do. */
type RepeatedBy = { readonly run: string; readonly what: string };

/**
 * Compares a plan with earlier runs: of a run, in the transaction that makes it. Those whose recipients it excludes are
 * not repeated.
 *
 * @returns `unfinished`: a warning about earlier runs of the campaign that can still send, null if there is none. A run with
 *   another text or other contacts is no repetition, but its recipients may be the same
 */
export async function findEarlierRuns(
  client: Connection,
  { prepared, staged }: Pick<DecidedPlan, 'prepared' | 'staged'>,
  { run, fingerprint, marks, now }: NewRun,
): Promise<{ readonly repeated: RepeatedBy | undefined; readonly unfinished: string | null }> {
  const { campaign, dispatch } = prepared.campaign.value;
  const relatives = staged.origins.relatives.map((each) => each.run);
  const ignoredRuns = run === null ? relatives : [run, ...relatives];
  const compared = { fingerprint, marks, now, ignoredRuns, service: serviceOf(prepared.account) };
  return {
    repeated: await findRepeat(client, dispatch.repeat, compared),
    unfinished: await findUnfinishedRuns(client, campaign, ignoredRuns),
  };
}

async function findUnfinishedRuns(
  client: Connection,
  campaign: string,
  ignoredRuns: readonly string[],
): Promise<string | null> {
  const unfinished = await listUnfinishedRuns(client, campaign);
  const [newest, ...others] = unfinished.filter(({ run }) => !ignoredRuns.includes(run)).toReversed();
  if (newest === undefined) return null;
  const { run, state, stateReason } = newest;
  const reason = stateReason === null ? '' : ` (${formatReason(stateReason)})`;
  const more = others.length === 0 ? '' : ` So can ${others.length} more: \`volley runs\` lists them.`;
  return `Run ${run} of this campaign is ${state}${reason} and can still send to its own recipients. \`volley cancel ${run}\` ends it.${more}`;
}

async function findRepeat(
  client: Connection,
  repeat: Campaign['value']['dispatch']['repeat'],
  {
    fingerprint,
    marks,
    now,
    ignoredRuns,
    service,
  }: Omit<NewRun, 'run'> & { readonly ignoredRuns: readonly string[]; readonly service: string },
): Promise<RepeatedBy | undefined> {
  if (repeat === 'allow' || !fingerprint) return undefined;
  const since = new Date(now.getTime() - repeat);
  const repeated = await findRepeatedRun(client, { fingerprint, since, ignoredRuns });
  if (repeated) {
    const summary = await summariseRun(client, repeated.run);
    return { run: repeated.run, what: formatRepeat(repeated, repeat, summary?.requests) };
  }
  const sent = fingerprint.toString('hex');
  const lost = (await findLostRuns(client, marks, now)).find(
    (begun) => begun.fingerprint === sent && begun.service === service && begun.at > since.toISOString(),
  );
  return lost && { run: lost.run, what: formatLostRepeat(lost, repeat) };
}

function formatLostRepeat({ run, at }: BegunRun, repeat: number): string {
  return `This machine sent run ${run}, with the same message for the same contacts, at ${at}, and this ledger lacks the run: it was restored from a backup, or is another ledger. dispatch.repeat forbids a repetition within ${formatDuration(repeat)}. In the ledger that has it, \`volley resume ${run}\` continues it. If that ledger is lost, find out which recipients the service took (docs/how-to/backup.md, "Runs that the ledger lacks"), and send to the others: \`volley run --contacts FILE\`. \`volley run --again\` sends to all of them again.`;
}

function formatRepeat(repeated: RepeatedRun, repeat: number, requests: RequestCounts | undefined): string {
  const { run, state, stateReason, since, waitsForApproval, beyondLimit } = repeated;
  const reason = stateReason === null ? '' : ` (${formatReason(stateReason)})`;
  const found = `Run ${run} has the same message for the same contacts and is ${state}${reason} since ${since.toISOString()}. dispatch.repeat forbids a repetition within ${formatDuration(repeat)}.`;
  const on = hasEnded(state)
    ? waysOn(run, requests)
    : waitsForApproval
      ? `It waits for approval: \`volley approve ${run}\`, then \`volley resume ${run}\`.`
      : `\`volley resume ${run}\` continues it.`;
  const rest =
    beyondLimit === 0
      ? ''
      : ` Its limit left ${beyondLimit} recipients: \`volley run <campaign> --of ${run}\` sends to them.`;
  return `${found}${rest} ${on} \`volley run --again\` sends to all of them again.`;
}

const unreachedStates = ['failed', 'rejected', 'cancelled'] as const;

/** What the operator can do about requests of a run that has ended, by the states that it has. */
function waysOn(run: string, requests: RequestCounts | undefined): string {
  const unreached = unreachedStates.filter((state) => requests && requests[state] > 0);
  const inDoubt = requests?.in_doubt ?? 0;
  return [
    `\`volley status ${run}\` shows its result.`,
    ...(inDoubt > 0
      ? [
          `In doubt: ${inDoubt} of its ${requests?.total} requests. \`volley resolve ${run}\` lists them, and with --resend, --accepted or --abandon you decide about them.`,
        ]
      : []),
    ...(unreached.length > 0
      ? [`\`volley rerun ${run} --state ${unreached.join(',')}\` sends to recipients that it did not reach.`]
      : []),
  ].join(' ');
}
