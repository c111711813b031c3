import { InputError } from '../../domain/problems.ts';
import {
  countReportsWithAddress,
  eraseAddressElsewhere,
  erasePersonFromRun,
} from '../../ledger/purge/erase-recipient.ts';
import { suppressByHash } from '../../ledger/purge/hash-suppressions.ts';
import { type AddressTrace, findAddressTraces } from '../../ledger/recipients/traces.ts';
import {
  deleteContactFilePieces,
  putContactFilePiece,
  readContactFilePieces,
} from '../../ledger/runs/contact-files.ts';
import { inRerunLock } from '../../ledger/runs/made-once.ts';
import { inTransaction, type Transaction } from '../../ledger/session.ts';
import { type HashKey, requireHashKey } from '../../ledger/suppressions/hash.ts';
import { auditEntry } from '../audit.ts';
import { bookBilling } from '../billing/billing.ts';
import type { EngineContext } from '../context.ts';
import { compressPieces, decompressPieces } from '../plan/kept-contact-files.ts';
import { channelsOf } from '../suppressions/own-suppressions.ts';
import { blankLines, type SearchedRows, searchContactFiles } from './contact-rows.ts';

/** Why a run still has the person. `in_use`: another process makes a run from it. */
export type LeftAlone = {
  readonly run: string;
  readonly why: 'not_over' | 'unsettled' | 'in_use';
};

export type Erasure = {
  readonly runs: readonly string[];
  readonly recipients: number;
  readonly contactRows: number;
  /** Workbooks whose kept content goes as a whole. */
  readonly droppedFiles: readonly { readonly run: string; readonly name: string }[];
  /** Raw delivery reports; before an erasure, those that contain the address. */
  readonly reports: number;
  readonly leftAlone: readonly LeftAlone[];
};

type Plan = {
  readonly traces: readonly AddressTrace[];
  readonly files: readonly SearchedRows[];
  /** Regular expression of Postgres that finds the address in words. */
  readonly words: string;
};

/**
 * Says what `erasePerson` would do. Changes nothing.
 *
 * @param address normalised for comparison
 */
export async function previewErasure(context: EngineContext, address: string): Promise<Erasure> {
  const plan = await planErasure(context, address);
  const leftAlone = plan.traces.flatMap(whyLeftAlone);
  const kept = leftAlone.map(({ run }) => run);
  const reports = await countReportsWithAddress(context.ledger.pool, plan.words, kept);
  return sum(plan, leftAlone, reports);
}

/**
 * Erases a person from all runs that have ended, and suppresses the address by its hash. Each run is a transaction; after
 * an interruption the next call continues.
 *
 * @param address normalised for comparison
 * @param reason for the audit trail
 * @throws InputError when the hash key is missing or has changed
 */
export async function erasePerson(context: EngineContext, address: string, reason: string): Promise<Erasure> {
  const { pool, hashKey } = context.ledger;
  if (hashKey === null) {
    const what = 'An erased address stays suppressed as a hash. Set its key first.';
    throw new InputError([{ where: 'VOLLEY_HASH_KEY', what }]);
  }
  await requireHashKey(pool, hashKey);
  await suppress(context, hashKey, address, reason);
  await bookBilling(context);
  const plan = await planErasure(context, address);
  const leftAlone: LeftAlone[] = [];
  let reports = 0;
  for (const trace of plan.traces) {
    const reason = whyLeftAlone(trace)[0];
    const erased = reason ? undefined : await eraseFromRun(context, trace, plan);
    if (erased === undefined) leftAlone.push(reason ?? { run: trace.run, why: 'in_use' });
    else reports += erased;
  }
  const kept = leftAlone.map(({ run }) => run);
  reports += await inTransaction(pool, (client) => eraseAddressElsewhere(client, plan.words, kept));
  const result = sum(plan, leftAlone, reports);
  const details = {
    of: 'one person',
    reason,
    runs: result.runs.length,
    recipients: result.recipients,
    contactRows: result.contactRows,
    reports,
    leftAlone: kept,
  };
  await inTransaction(pool, auditEntry(context, { action: 'purged', details }));
  return result;
}

async function suppress(
  context: EngineContext,
  key: HashKey,
  address: string,
  reason: string,
): Promise<void> {
  const channels = channelsOf(address);
  const details = { channels, accounts: [], subAccounts: [], asked: channels.length, reason };
  await inTransaction(context.ledger.pool, async (client) => {
    await suppressByHash(client, key, { channels, address, now: context.now() });
    await auditEntry(context, { action: 'suppressions added', details })(client);
  });
}

async function planErasure(context: EngineContext, address: string): Promise<Plan> {
  const files = await searchContactFiles(context, address);
  const lines = files.flatMap(({ file, rows }) =>
    rows.map(({ line }) => ({ run: file.keptBy, line: file.linesBefore + line })),
  );
  const traces = await findAddressTraces(context.ledger.pool, address, lines);
  const words = wordsWith([address, ...traces.flatMap(({ spellings }) => spellings)]);
  return { traces, files, words };
}

/**
 * Services write a number without its plus sign, and a query string encodes addresses. A longer address that contains
 * this one is another person's.
 */
function wordsWith(addresses: readonly string[]): string {
  const texts = addresses.flatMap((text) => {
    const bare = text.replace(/^\+/, '');
    return [bare, encodeURIComponent(bare)];
  });
  const escaped = [...new Set(texts)].map((text) => text.replaceAll(/[^A-Za-z0-9]/g, '\\$&')).join('|');
  return addresses[0]?.includes('@')
    ? `(^|[^A-Za-z0-9._+-]|%[0-9A-F]{2})(${escaped})($|[^A-Za-z0-9.-]|[.-]($|[^A-Za-z0-9]))`
    : `(^|[^0-9])0{0,2}(${escaped})($|[^0-9])`;
}

function whyLeftAlone({ run, ended, unsettled }: AddressTrace): LeftAlone[] {
  if (!ended) return [{ run, why: 'not_over' }];
  return unsettled ? [{ run, why: 'unsettled' }] : [];
}

/** @returns the number of deleted raw reports; undefined: another process uses the run */
async function eraseFromRun(
  { ledger: { pool } }: EngineContext,
  { run, requests, positions, lines }: AddressTrace,
  { files, words }: Plan,
): Promise<number | undefined> {
  // No rerun of it can be planned meanwhile.
  return inRerunLock(pool, run, () =>
    inTransaction(pool, async (client) => {
      const reports = await erasePersonFromRun(client, { run, requests, positions, lines, words });
      if (reports === undefined) return undefined;
      for (const found of files) if (found.file.keptBy === run) await rewriteFile(client, found);
      return reports;
    }),
  );
}

/** A workbook cannot be written again as it was, so its kept content goes. */
async function rewriteFile(client: Transaction, { file, rows }: SearchedRows): Promise<void> {
  if (file.encoding === null) return deleteContactFilePieces(client, file, 0);
  // The cursor reads the pieces as they were.
  const read = decompressPieces(readContactFilePieces(client, file));
  let number = 0;
  for await (const piece of compressPieces(blankLines(read, file.name, file.encoding, rows)))
    await putContactFilePiece(client, file, number++, piece);
  await deleteContactFilePieces(client, file, number);
}

function sum({ traces, files }: Plan, leftAlone: readonly LeftAlone[], reports: number): Erasure {
  const left = new Set(leftAlone.map(({ run }) => run));
  const erased = traces.filter(({ run }) => !left.has(run));
  const rewritten = files.filter(({ file }) => !left.has(file.keptBy));
  return {
    runs: erased.map(({ run }) => run),
    recipients: erased.reduce((all, { requests }) => all + requests.length, 0),
    contactRows: rewritten.reduce((all, { rows }) => all + rows.length, 0),
    droppedFiles: rewritten.flatMap(({ file }) =>
      file.encoding === null ? [{ run: file.keptBy, name: file.name }] : [],
    ),
    reports,
    leftAlone,
  };
}
