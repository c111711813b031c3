import type { RecipientKey } from '../../ledger/recipients/find.ts';
import { findRecipientHistories, listMessages } from '../../ledger/recipients/history.ts';
import { readReportInSnapshot } from '../../ledger/replica.ts';
import type { EngineContext } from '../context.ts';
import { createRunFileReader, renderPlannedMessage } from '../plan/planned-messages.ts';
import { readListRow } from './list-rows.ts';

export type KnownRecipient = NonNullable<Awaited<ReturnType<typeof readKnownRecipient>>>;

const othersShown = 20;
/** Milliseconds, for a file of which no piece can be read alone. */
const readingTime = 1_000;

/**
 * Everything that a page shows of one recipient of a run: its message as it gets it, unless that is erased; its row, if it
 * is kept and can be read in time; and what else was sent to the address, the newest run first.
 *
 * @param accounts of the other runs; null: all
 * @returns undefined: the run has no recipient of this row
 */
export function readKnownRecipient(
  { ledger, now, monotonic }: EngineContext,
  { run, row }: RecipientKey,
  accounts: readonly string[] | null,
) {
  return readReportInSnapshot(ledger, now, async (client, asOf) => {
    const wanted = { kind: 'row', rows: [{ run, row }] } as const;
    const [history] = await findRecipientHistories(client, wanted, { limit: 1 });
    if (!history) return undefined;
    const { address, purgedAt } = history;
    if (purgedAt !== null || address === '')
      return { history, message: undefined, listRow: undefined, others: [], asOf };
    const [stored] = await listMessages(client, [history]);
    const destination = { Recipient: address, ...stored?.destination };
    const readFile = createRunFileReader(ledger, run);
    const message = stored && (await renderPlannedMessage(history.channel, stored, destination, readFile));
    const toAddress = { kind: 'address', value: address, accounts } as const;
    const others = await findRecipientHistories(client, toAddress, { limit: othersShown + 1 });
    const end = monotonic() + readingTime;
    return {
      history,
      message,
      listRow: await readListRow(client, run, row, () => monotonic() > end),
      others: others.filter((other) => other.run !== run || other.row !== row).slice(0, othersShown),
      asOf,
    };
  });
}
