import type { Campaign } from '../../campaign/campaign.ts';
import { InputError } from '../../domain/problems.ts';
import { isOver } from '../../domain/runs.ts';
import type { Alongside } from '../../ledger/connection.ts';
import { findRepeated, type RepeatedRun } from '../../ledger/runs/repeats.ts';
import { durationText } from '../../platform/scalars.ts';

export type MadeRun = {
  readonly run: string;
  /** It has been kept. */
  readonly fingerprint: Buffer;
  readonly now: Date;
  /** Runs whose recipients are left out of this one, so that it does not repeat them. */
  readonly relatives: readonly string[];
};

/**
 * Refuses a run that sends what a run of the last hours (`dispatch.repeat`) has sent, in the transaction that makes it.
 *
 * @throws InputError naming the earlier run, and what an operator can do
 */
export async function refuseRepeat(
  client: Parameters<Alongside>[0],
  { value, locate }: Pick<Campaign, 'value' | 'locate'>,
  { run, fingerprint, now, relatives }: MadeRun,
): Promise<void> {
  const { repeat } = value.dispatch;
  if (repeat === 'allow') return;
  const since = new Date(now.getTime() - repeat);
  const repeated = await findRepeated(client, { fingerprint, since, others: [run, ...relatives] });
  if (!repeated) return;
  throw new InputError([{ where: locate(['campaign']), what: repeatText(repeated, repeat) }]);
}

function repeatText({ run, state, stateReason, since }: RepeatedRun, repeat: number): string {
  const reason = stateReason === null ? '' : ` (${stateReason})`;
  const found = `Run ${run} has the same message for the same contacts, and is ${state}${reason} since ${since.toISOString()}; nothing is sent twice within ${durationText(repeat)} (dispatch.repeat).`;
  const on = isOver(state)
    ? `\`volley resume ${run}\` shows what it came to, and \`volley run --only failed,rejected,cancelled --of ${run}\` sends to those it did not reach.`
    : `\`volley resume ${run}\` goes on with it.`;
  return `${found} ${on} \`volley run\` with \`--again\` sends to all of them once more.`;
}
