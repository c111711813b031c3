import type { Campaign } from '../../campaign/campaign.ts';
import { toTestDefinition } from '../../campaign/test-definition.ts';
import { sentVariants } from '../../campaign/variants.ts';
import type { AddressReader } from '../../contacts/address.ts';
import type { Contact } from '../../domain/contacts.ts';
import { InputError, type Problem } from '../../domain/problems.ts';

/** A test sends rows of the contact files to addresses of the operator. */
export type TestRecipients = {
  /** As the service gets them. The rows go to them in turn. */
  readonly addresses: readonly string[];
  /** How many rows are sent; by default one for each address, or for each variant if these are more. */
  readonly rows: number;
  /** Keys of the message that the test changes or leaves out: they could hold an address of a row. */
  readonly leftOut: readonly string[];
};

/** The campaign as it is sent: to its recipients, to the first of them, or as a test. */
export function chooseRecipients(
  campaign: Campaign,
  {
    testTo,
    testRow,
    limit,
  }: {
    readonly testTo: readonly string[] | undefined;
    readonly testRow: number | undefined;
    readonly limit: number | undefined;
  },
  readAddress: AddressReader,
): {
  readonly campaign: Campaign;
  readonly limit: number | undefined;
  readonly test: TestRecipients | undefined;
} {
  if (testTo === undefined) {
    if (limit !== undefined && campaign.value.until) {
      const what =
        'A limit and "until: winner" exclude each other: the winner is sent to all others of the files.';
      throw new InputError([{ where: '--limit', what }]);
    }
    return { campaign, limit, test: undefined };
  }
  const variants = testRow === undefined ? sentVariants(campaign).length : 1;
  const recipients = readTestRecipients(testTo, { limit, variants }, readAddress);
  const { definition, leftOut } = toTestDefinition(campaign.value, recipients.addresses[0] ?? '');
  return {
    campaign: { ...campaign, value: definition },
    limit: undefined,
    test: { ...recipients, leftOut },
  };
}

/** A test needs no approval, so it must be small. */
const maxTestRows = 100;

const option = '--test-to';

/** @throws InputError for addresses that the campaign's channel cannot send to, and for a test of too many rows */
function readTestRecipients(
  written: readonly string[],
  { limit, variants }: { readonly limit: number | undefined; readonly variants: number },
  readAddress: AddressReader,
): Omit<TestRecipients, 'leftOut'> {
  const problems: Problem[] = [];
  const addresses = written.flatMap((text) => {
    const read = readAddress(text);
    if (read.kind === 'valid') return [read.address];
    problems.push({ where: option, what: `A test cannot be sent to this address: ${read.detail}.` });
    return [];
  });
  const distinct = [...new Set(addresses)];
  const rows = limit ?? Math.max(distinct.length, variants);
  if (rows > maxTestRows) {
    const what = `A test has at most ${maxTestRows} rows, and this one would have ${rows}. Set a lower --limit.`;
    problems.push({ where: option, what });
  }
  if (problems.length > 0) throw new InputError(problems);
  return { addresses: distinct, rows };
}

/**
 * The first valid rows with their values, but nothing of their address. Reads no further.
 *
 * @param chosenRow number of the row to begin with; undefined: the first that is valid
 * @throws InputError when there is no such row, or it is invalid
 */
export async function* toTestContacts(
  contacts: AsyncIterable<readonly Contact[]>,
  { addresses, rows }: TestRecipients,
  chosenRow: number | undefined,
): AsyncGenerator<readonly Contact[], void, undefined> {
  let [taken, row] = [0, 0];
  for await (const batch of contacts) {
    const replaced: Contact[] = [];
    for (const contact of batch) {
      if (taken === rows) break;
      row++;
      if (row < (chosenRow ?? 1)) continue;
      if (contact.kind === 'rejected') {
        if (row === chosenRow) refuseRow(row, `is invalid: ${contact.detail}. Choose another row.`);
        replaced.push(contact);
        continue;
      }
      const address = addresses[taken++ % addresses.length] ?? '';
      replaced.push({ ...contact, address, originalAddress: address });
    }
    yield replaced;
    if (taken === rows) return;
  }
  if (chosenRow !== undefined && row < chosenRow) refuseRow(chosenRow, 'is not in the contact files.');
}

function refuseRow(row: number, what: string): never {
  throw new InputError([{ where: `row ${row}`, what: `Row ${row} ${what}` }]);
}

/**
 * @param details why each address is suppressed
 * @throws InputError when there are any
 */
export function refuseSuppressedTest(details: readonly string[]): void {
  const problems = [...new Set(details)].map((detail): Problem => {
    const what = `A test cannot be sent to an address that is suppressed: ${detail}. Use another address, or remove the suppression (\`volley suppress remove\`).`;
    return { where: option, what };
  });
  if (problems.length > 0) throw new InputError(problems);
}
