import type { Campaign } from '../../campaign/campaign.ts';
import type { BegunRun, ClaimMarks } from '../../domain/claim-marks.ts';
import { InputError } from '../../domain/problems.ts';
import { formatReason } from '../../domain/reasons.ts';
import { hasEnded, type RequestCounts } from '../../domain/runs.ts';
import { formatDuration } from '../../domain/scalar-text.ts';
import type { Account } from '../../gateway/account.ts';
import { summariseRun } from '../../ledger/runs/describe-run.ts';
import { listUnfinishedRuns } from '../../ledger/runs/find.ts';
import { findRepeatedRun, type RepeatedRun } from '../../ledger/runs/repeats.ts';
import type { Connection, Transaction } from '../../ledger/session.ts';
import { findLostRuns, serviceOf } from '../dispatch/begun-runs.ts';
import type { CampaignFiles } from './campaign-files.ts';
import { type Fingerprint, readUnreadFiles } from './fingerprint.ts';

type NewRun = {
  /** Null in a preview. */
  readonly run: string | null;
  readonly fingerprint: Buffer;
  readonly now: Date;
  /** Runs whose recipients this run excludes, so it does not repeat them. */
  readonly relatives: readonly string[];
  readonly marks: ClaimMarks;
  /** See `serviceOf`. */
  readonly service: string;
};

/**
 * Compares the run with earlier ones, in the transaction that creates it.
 *
 * @param seen what `findRepeatInPreview` said to the operator, who then chose to repeat that run
 * @throws InputError naming the earlier run
 */
export async function refuseRepeat(
  client: Transaction,
  campaign: Campaign,
  made: NewRun,
  seen: string | null = null,
): Promise<void> {
  const found = await findRepeatProblem(client, campaign.value, made);
  if (found && !seen?.includes(found.run))
    throw new InputError([{ where: campaign.locate(['campaign']), what: found.what }]);
}

/** Reads the files of the run, and those beyond its limit. */
export async function findRepeatInPreview(
  client: Connection,
  definition: Pick<Campaign['value'], 'dispatch'>,
  { fingerprint, account, files, sentFiles, filesBeyondLimit, ...others }: PreviewedRun,
): Promise<string | undefined> {
  if (definition.dispatch.repeat === 'allow') return undefined;
  await readUnreadFiles(fingerprint, sentFiles, files.read);
  await readUnreadFiles(fingerprint, filesBeyondLimit, files.readUnstored);
  const made = { ...others, service: serviceOf(account), run: null, fingerprint: fingerprint.digest() };
  return (await findRepeatProblem(client, definition, made))?.what;
}

type PreviewedRun = Pick<NewRun, 'now' | 'relatives' | 'marks'> & {
  readonly account: Pick<Account, 'baseUrl'>;
  readonly fingerprint: Fingerprint;
  readonly files: Pick<CampaignFiles, 'read' | 'readUnstored'>;
  readonly sentFiles: readonly string[];
  readonly filesBeyondLimit: readonly string[];
};

/**
 * A run with another text or other contacts is no repetition, but its recipients may be the same.
 *
 * @returns a warning about earlier runs of the campaign that can still send; null if there is none
 */
export async function findUnfinishedRuns(
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

/** @returns the earlier run, why this one would be refused, and what the operator can do */
async function findRepeatProblem(
  client: Connection,
  { dispatch: { repeat } }: Pick<Campaign['value'], 'dispatch'>,
  { run, fingerprint, now, relatives, marks, service }: NewRun,
): Promise<{ readonly run: string; readonly what: string } | undefined> {
  if (repeat === 'allow') return undefined;
  const since = new Date(now.getTime() - repeat);
  const others = run === null ? relatives : [run, ...relatives];
  const repeated = await findRepeatedRun(client, { fingerprint, since, ignoredRuns: others });
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
