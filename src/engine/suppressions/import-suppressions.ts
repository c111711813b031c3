import { type AddressReader, createAddressReader } from '../../contacts/address.ts';
import { type ContactFile, openContactFile } from '../../contacts/contact-file.ts';
import { readFileBytes } from '../../contacts/file-bytes.ts';
import { readSuppressionFile, type SuppressedAddress } from '../../contacts/suppression-file.ts';
import { comparedAddress } from '../../domain/compared-address.ts';
import type { Channel } from '../../domain/message.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { importSuppressions, type ListedAddress } from '../../ledger/suppressions/add.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';

const maxProblems = 20;

/**
 * @returns `read`: rows of the file, including unreadable ones; `added`: new suppressions, one per address and channel;
 *   `already`: those that were suppressed, or are repeated in the file
 * @throws InputError when the file cannot be read, or its address column is ambiguous
 */
export async function importSuppressionFile(
  context: EngineContext,
  path: string,
  name: string,
  options: {
    readonly channels: readonly Channel[];
    readonly readAddress: AddressReader;
    readonly column?: string;
    readonly account: string;
    readonly subAccount: string;
    readonly reason: string;
  },
) {
  const { ledger, now } = context;
  const { channels, reason, account, subAccount } = options;
  const problems: Problem[] = [];
  const tally = { read: 0, unreadable: 0, problems };
  const file = await openContactFile(readFileBytes(path, name), name);
  const rows = readable(readSuppressionFile(file, options), file.place, tally);
  const list = { channels, reason, by: context.actor.name, source: 'import', createdAt: now() } as const;
  const added = await importSuppressions(ledger.pool, rows, list, (client, count) => {
    const details = { channels, account, subAccount, reason, file: name, added: count };
    return auditEntry(context, { action: 'suppressions added', details })(client);
  }).finally(file.close);
  const addresses = (tally.read - tally.unreadable) * channels.length;
  return { ...tally, added, already: addresses - added };
}

async function* readable(
  batches: AsyncIterable<readonly SuppressedAddress[]>,
  place: ContactFile['place'],
  tally: { read: number; unreadable: number; readonly problems: Problem[] },
): AsyncGenerator<readonly ListedAddress[], void, undefined> {
  for await (const batch of batches) {
    tally.read += batch.length;
    for (const row of batch) {
      if (row.kind === 'address') continue;
      tally.unreadable++;
      if (tally.problems.length < maxProblems)
        tally.problems.push({ where: place(row.line), what: row.detail });
    }
    yield batch.filter((row) => row.kind === 'address');
  }
}

/**
 * @param country of numbers without a country code
 * @param missingCountryHint explains an invalid number when there is no country
 * @throws InputError when no address fits all channels
 */
export function createSuppressedAddressReader(
  channels: readonly Channel[],
  country: string | undefined,
  missingCountryHint = 'there is no --country',
): AddressReader {
  const [first, ...others] = channels.toSorted();
  if (first === undefined)
    throw new InputError([{ where: '--channel', what: 'Expected at least one channel.' }]);
  if (first === 'email' && others.some((channel) => channel !== 'email')) {
    const what =
      'An address is an e-mail address or a phone number. Suppress e-mail addresses in a separate call.';
    throw new InputError([{ where: '--channel', what }]);
  }
  const reader = createAddressReader(first, country, 'allow', missingCountryHint);
  if (reader) return comparedAddressReader(reader);
  throw new InputError([{ where: '--country', what: `"${country}" is not a country with phone numbers.` }]);
}

/** Suppressions are stored normalised for comparison. */
export function comparedAddressReader(readAddress: AddressReader): AddressReader {
  return (text, country) => {
    const read = readAddress(text, country);
    return read.kind === 'valid' ? { ...read, address: comparedAddress(read.address) } : read;
  };
}

/** @throws InputError naming every invalid address */
export function readAddresses(texts: readonly string[], readAddress: AddressReader): string[] {
  const problems: Problem[] = [];
  const addresses = texts.flatMap((text): string[] => {
    const read = readAddress(text);
    if (read.kind === 'valid') return [read.address];
    problems.push({ where: 'address', what: `${read.detail}.` });
    return [];
  });
  if (problems.length > 0) throw new InputError(problems);
  return addresses;
}
