import { canBeMessageId } from '../../domain/message-id.ts';
import { InputError } from '../../domain/problems.ts';
import type { AsOf } from '../../domain/replica.ts';
import { countUnmatchedDeliveryReports } from '../../ledger/delivery-reports/list.ts';
import type { RecipientKey, RecipientQuery } from '../../ledger/recipients/find.ts';
import {
  findRecipientHistories,
  listMessages,
  type RecipientHistory,
} from '../../ledger/recipients/history.ts';
import { readSearchedRuns, type SearchedRuns } from '../../ledger/recipients/searched-runs.ts';
import { readReportInSnapshot } from '../../ledger/replica.ts';
import type { Snapshot } from '../../ledger/session.ts';
import { hasCode } from '../../platform/file-error.ts';
import type { EngineContext } from '../context.ts';
import { createRunFileReader, renderPlannedMessage } from '../plan/planned-messages.ts';
import { createSuppressedAddressReader } from '../suppressions/import-suppressions.ts';
import { type FoundRows, findListRows, type ListRow, readListRow } from './list-rows.ts';

/** What a text was searched as. */
export type Reading =
  | { readonly kind: 'messageId' | 'jobNumber' | 'chargeCode' }
  | ({ readonly kind: 'words' } & Pick<FoundRows, 'endedAt'>)
  /** `country`: of a number without a country code. */
  | { readonly kind: 'address'; readonly address: string; readonly country: string | null }
  /** A number that no country explains. */
  | { readonly kind: 'unreadable'; readonly why: string };

export type RecipientReport = {
  /** In the order in which they were tried, up to the first one with a result. */
  readonly readings: readonly Reading[];
  readonly searched: SearchedRuns;
  /** The newest run first. */
  readonly histories: readonly RecipientHistory[];
  readonly hasMore: boolean;
  /** They match no known message. */
  readonly unmatched: { readonly address: string; readonly reports: number } | undefined;
  /** Found by words. `histories` has those that were not left out. */
  readonly rows: readonly ListRow[];
};

type RecipientSearch = {
  /** The country of numbers without a country code; by default that of the campaigns. Job numbers are not searched then. */
  readonly country?: string | undefined;
  /** Only runs of these accounts; null: all. */
  readonly accounts?: readonly string[] | null;
  readonly skip?: number;
  readonly limit: number;
  /** How long words are searched in contact files (milliseconds); undefined: the caller may not. */
  readonly wordsTime?: number | undefined;
  /** Explains a number that needs a country. */
  readonly countryHint?: string;
};

/** Milliseconds, for each statement of a search. */
const statementTimeout = 5_000;
const queryCanceled = '57014';

/**
 * Searches for what people have of a recipient: a MessageID, the service's job number, a phone number, an e-mail address,
 * a ChargeCode, or words of its row in a contact file.
 *
 * @throws InputError when it takes too long, or for an unknown country
 */
export async function searchRecipient(
  { ledger, now, monotonic }: EngineContext,
  text: string,
  search: RecipientSearch,
): Promise<RecipientReport & { readonly asOf: AsOf }> {
  try {
    return await readReportInSnapshot(ledger, now, async (client, asOf) => {
      await client.query(`SET LOCAL statement_timeout = ${statementTimeout}`);
      const report = { ...(await findRecipient(client, text.trim(), search, monotonic)), asOf };
      if (isEmpty(report) && asOf.read?.from === 'replica') throw new NothingFound(report);
      return report;
    });
  } catch (error) {
    if (error instanceof NothingFound) return error.report;
    if (!hasCode(error, queryCanceled)) throw error;
    const what = `The search took longer than ${statementTimeout / 1_000} seconds and was ended. Try it again later.`;
    throw new InputError([{ where: 'search', what }]);
  }
}

/** A replica has found nothing: the primary is asked, unless the replica has everything. */
class NothingFound extends InputError {
  readonly report: RecipientReport & { readonly asOf: AsOf };

  constructor(report: RecipientReport & { readonly asOf: AsOf }) {
    super([{ where: 'search', what: 'Nothing was found.' }]);
    this.report = report;
  }
}

async function findRecipient(
  client: Snapshot,
  text: string,
  { country, accounts = null, skip = 0, limit, wordsTime, countryHint }: RecipientSearch,
  monotonic: EngineContext['monotonic'],
): Promise<RecipientReport> {
  const searched = await readSearchedRuns(client, accounts);
  const readings: Reading[] = [];
  const nothing = { readings, searched, histories: [], rows: [], hasMore: false, unmatched: undefined };
  const find = async (reading: Reading, query: RecipientQuery): Promise<RecipientReport> => {
    readings.push(reading);
    const range = { skip, limit: limit + 1 };
    const histories = await findRecipientHistories(client, { ...query, accounts }, range);
    return { ...nothing, histories: histories.slice(0, limit), hasMore: histories.length > limit };
  };
  const isId = canBeMessageId(text);
  if (isId) {
    const found = await find({ kind: 'messageId' }, { kind: 'messageId', value: text });
    if (!isEmpty(found)) return found;
  }
  for (const reading of readAddresses(text, country ? [country] : searched.countries, countryHint)) {
    if (reading.kind !== 'address') {
      readings.push(reading);
      continue;
    }
    const { address } = reading;
    const found = await find(reading, { kind: 'address', value: address });
    const reports = await countUnmatchedDeliveryReports(client, address, accounts);
    const whole = { ...found, unmatched: reports > 0 ? { address, reports } : undefined };
    if (!isEmpty(whole)) return whole;
  }
  const byChargeCode = await find({ kind: 'chargeCode' }, { kind: 'chargeCode', value: text });
  if (!isEmpty(byChargeCode)) return byChargeCode;
  if (wordsTime !== undefined) {
    const end = monotonic() + wordsTime;
    const isOver = () => monotonic() > end;
    const { rows, endedAt } = await findListRows(client, text, { accounts, limit: limit + 1, isOver });
    readings.push({ kind: 'words', endedAt });
    const shown = rows.slice(0, limit);
    const histories = await findRecipientHistories(client, { kind: 'row', rows: shown }, { limit });
    if (rows.length > 0) return { ...nothing, histories, rows: shown, hasMore: rows.length > limit };
  }
  // The last one, because it reads without an index.
  return isId && country === undefined
    ? find({ kind: 'jobNumber' }, { kind: 'jobNumber', value: text })
    : nothing;
}

function isEmpty({ histories, rows, unmatched }: RecipientReport): boolean {
  return histories.length === 0 && rows.length === 0 && !unmatched;
}

/** Whether people would take it for a phone number. */
const looksLikeNumber = /^[+(]?\d[\d\s()./-]{4,}$/;

/** The text as an address, in each country that explains it; otherwise why it is none. */
function readAddresses(
  text: string,
  countries: readonly string[],
  countryHint: string | undefined,
): readonly Extract<Reading, { kind: 'address' | 'unreadable' }>[] {
  const channel = text.includes('@') ? 'email' : 'sms';
  if (channel === 'sms' && !looksLikeNumber.test(text)) return [];
  const isWhole = channel === 'email' || text.startsWith('+') || countries.length === 0;
  const read = (isWhole ? [undefined] : countries).map((country) => {
    const found = createSuppressedAddressReader([channel], country, countryHint)(text);
    return found.kind === 'valid'
      ? ({ kind: 'address', address: found.address, country: country ?? null } as const)
      : ({ kind: 'unreadable', why: found.detail } as const);
  });
  const valid = read.filter(({ kind }) => kind === 'address');
  return valid.length > 0 ? valid : read.slice(0, 1);
}

/**
 * An address as it is compared, for one person's data.
 *
 * @throws InputError when it is none
 */
export function comparedAddressOf(text: string, country?: string, countryHint?: string): string {
  const [read] = readAddresses(text, country ? [country] : [], countryHint);
  if (read?.kind === 'address') return read.address;
  const what = `${read?.why ?? `"${text}" is no phone number and no e-mail address`}.`;
  throw new InputError([{ where: 'address', what }]);
}

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
