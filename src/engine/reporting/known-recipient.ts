import type { RenderedMessage } from '../../domain/rendered-message.ts';
import type { AsOf } from '../../domain/replica.ts';
import type { RecipientKey } from '../../ledger/recipients/find.ts';
import {
  findRecipientHistories,
  listMessages,
  type RecipientHistory,
} from '../../ledger/recipients/history.ts';
import { readReportInSnapshot } from '../../ledger/replica.ts';
import type { EngineContext } from '../context.ts';
import { createRunFileReader, renderPlannedMessage } from '../plan/planned-messages.ts';
import { type ListRow, readListRow } from './list-rows.ts';

export type KnownRecipient = {
  readonly history: RecipientHistory;
  /** As the recipient gets it; undefined: it is erased. */
  readonly message: RenderedMessage | undefined;
  /** Undefined: it is not kept, or cannot be read in time. */
  readonly listRow: ListRow | undefined;
  /** What else was sent to the address, the newest run first. */
  readonly others: readonly RecipientHistory[];
  readonly asOf: AsOf;
};

const othersShown = 20;
/** Milliseconds, for a file of which no piece can be read alone. */
const readingTime = 1_000;

/**
 * Everything that a page shows of one recipient of a run.
 *
 * @param accounts of the other runs; null: all
 * @returns undefined: the run has no recipient of this row
 */
export function readKnownRecipient(
  { ledger, now, monotonic }: EngineContext,
  { run, row }: RecipientKey,
  accounts: readonly string[] | null,
): Promise<KnownRecipient | undefined> {
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
