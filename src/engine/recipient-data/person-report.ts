import { mergeText } from '../../campaign/merge.ts';
import { deliveryReportStates } from '../../domain/delivery-reports.ts';
import type { AuditEntry } from '../../ledger/audit/audit.ts';
import { type ListedDeliveryReport, listDeliveryReports } from '../../ledger/delivery-reports/list.ts';
import {
  findRecipientHistories,
  listMessages,
  type RecipientHistory,
  type StoredMessage,
} from '../../ledger/recipients/history.ts';
import type { PagedSuppression } from '../../ledger/suppressions/list.ts';
import { readAudit } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { listSuppressionsOfAddress } from '../suppressions/own-suppressions.ts';
import { type FoundRow, searchContactFiles } from './contact-rows.ts';

/** A row of a kept contact file that has the address, or that a message to it was made from. */
type PersonRow = Omit<FoundRow, 'lastLine'> & { readonly run: string; readonly file: string };

/** A message as its recipient reads it, before the service fills placeholders of its own. */
type PersonMessage = Omit<StoredMessage, 'run' | 'row'>;

/** Everything that the ledger has of an address. */
export type PersonReport = {
  readonly address: string;
  readonly contactRows: readonly PersonRow[];
  /** Newest run first. */
  readonly recipients: readonly (RecipientHistory & { readonly message: PersonMessage | undefined })[];
  /** Delivery reports and replies that belong to no known message. */
  readonly unmatchedReports: readonly ListedDeliveryReport[];
  readonly suppressions: readonly PagedSuppression[];
  /** The entries of the runs that sent to it. The audit trail itself contains no address. */
  readonly audit: readonly AuditEntry[];
};

/** Postgres takes it as no limit. */
const everything = 2_147_483_647;

/**
 * @param address normalised for comparison
 * @throws InputError when suppressions are hashed with another key
 */
export async function reportPerson(context: EngineContext, address: string): Promise<PersonReport> {
  const { pool } = context.ledger;
  const histories = await findRecipientHistories(
    pool,
    { kind: 'address', value: address },
    { limit: everything },
  );
  const messageOf = createMessageFinder(await listMessages(pool, histories));
  const files = await searchContactFiles(context, address);
  const runs = [...histories, ...files.map(({ file }) => ({ run: file.keptBy }))].map(({ run }) => run);
  return {
    address,
    contactRows: files.flatMap(({ file, rows }) =>
      rows.map(({ line, values, text }) => ({ run: file.keptBy, file: file.name, line, values, text })),
    ),
    recipients: histories.map((history) => ({ ...history, message: messageOf(history) })),
    unmatchedReports: await listUnmatched(context, address),
    suppressions: await listSuppressionsOfAddress(context, address, { sources: null }),
    audit: await listAuditOf(context, [...new Set(runs)]),
  };
}

function createMessageFinder(messages: readonly StoredMessage[]) {
  const known = new Map(messages.map((message) => [`${message.run} ${message.row}`, message]));
  return ({ run, row, channel, address }: RecipientHistory): PersonMessage | undefined => {
    const found = known.get(`${run} ${row}`);
    if (!found) return undefined;
    const { run: _run, row: _row, ...message } = found;
    const text = message.fields['Message'];
    if (channel !== 'sms' || text === undefined) return message;
    const merged = mergeText(text).mergedFor({ Recipient: address, ...message.destination });
    return { ...message, fields: { ...message.fields, Message: merged } };
  };
}

async function listUnmatched({ ledger }: EngineContext, address: string): Promise<ListedDeliveryReport[]> {
  const found: ListedDeliveryReport[] = [];
  const states = deliveryReportStates.filter((state) => state !== 'applied');
  await listDeliveryReports(ledger.pool, { states, address }, undefined, (page) => {
    found.push(...page.filter(({ run }) => run === null));
  });
  return found;
}

async function listAuditOf(context: EngineContext, runs: readonly string[]): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for await (const page of readAudit(context, { runs })) found.push(...page);
  return found;
}
