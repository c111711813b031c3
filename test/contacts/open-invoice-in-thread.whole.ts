import { globSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openInvoice } from '../../src/contacts/open-invoice.ts';
import { openInvoiceInThread } from '../../src/contacts/open-invoice-in-thread.ts';
import { collect } from '../support/collect.ts';
import { inOrder } from '../support/sheets.ts';
import { testWorkspace } from '../support/test-workspace.ts';
import { problemsRejected } from '../support/thrown-problems.ts';
import { sheetData, workbookOf } from '../support/workbooks.ts';

const workspace = testWorkspace({});

const reading = { name: 'invoice', columns: {}, decimal: 'point', country: undefined } as const;
const path = (): string => `${workspace.folder}/invoice`;
const open = async (bytes: string | Uint8Array, stop = new AbortController().signal) => {
  await workspace.write('invoice', bytes);
  return openInvoiceInThread(path(), reading, stop);
};

const rows = Array.from({ length: 3_000 }, (_, index) => [`M${index}`, `+6421${1_000_000 + index}`, '0.05']);
const header = ['MessageID', 'Destination', 'Price'];
const csv = [header, ...rows].map((row) => `${row.join(',')}\n`).join('');

test.each([
  ['CSV', () => csv],
  ['gzip', () => gzipSync(csv)],
  ['a workbook', () => workbookOf(sheetData(header, ...rows))],
] as const)('the thread reads the same lines of %s as the command line', async (_, make) => {
  const bytes = Buffer.from(await make());
  const inThread = await open(bytes);
  const here = await openInvoice(inOrder([bytes]), reading);
  expect([inThread.hasUnits, inThread.hasDate]).toEqual([false, false]);
  expect((await collect(inThread.batches)).flat()).toEqual((await collect(here.batches)).flat());
});

test('the thread says what is wrong with an invoice', async () => {
  expect(await problemsRejected(() => open('a,b\n1,2\n'))).toEqual([
    'invoice:1: Which column is MessageID? The columns are "a", "b"; name it with --column MessageID="…".',
    'invoice:1: Which column is Destination? The columns are "a", "b"; name it with --column Destination="…".',
    'invoice:1: Which column is Price? The columns are "a", "b"; name it with --column Price="…".',
  ]);
  await expect(openInvoiceInThread(`${path()}2`, reading, new AbortController().signal)).rejects.toThrow(
    'it does not exist',
  );
});

/** Few lines, because each is looked at as an address. */
const filler = (size: number) => `${csv}${`x,${'y'.repeat(1_010)}@z,0.05\n`.repeat(size / 1_024)}`;
const tooLarge =
  'The file is larger than 64 MB when it is unpacked. The command line reads a file of any size.';

test('a packed invoice of more than 64 MB is refused, and one below is read', async () => {
  const large = await open(gzipSync(filler(65 * 1_048_576), { level: 1 }));
  await expect(collect(large.batches)).rejects.toThrow(tooLarge);
  const [first] = (await collect((await open(gzipSync(filler(4 * 1_048_576)))).batches)).flat();
  expect(first).toMatchObject({ messageId: 'M0' });
});

test('a workbook whose parts are more than 64 MB together is refused before it is read', async () => {
  const strings = Array.from({ length: 16 }, (_, index) => `<t>${index}${'x'.repeat(4_200_000)}</t>`);
  const bytes = await workbookOf(sheetData(header, ...rows), { sharedStrings: strings });
  expect(await problemsRejected(() => open(bytes))).toEqual([`invoice: ${tooLarge}`]);
});

const threads = (): number =>
  globSync('/proc/self/task/*/comm').filter((name) => readFileSync(name, 'utf8') === 'invoice\n').length;

test('the thread ends when the browser leaves, also while no batch is asked for', async () => {
  const leaving = new AbortController();
  const { batches } = await open(filler(4 * 1_048_576), leaving.signal);
  const reader = batches[Symbol.asyncIterator]();
  await reader.next();
  expect(threads()).toBe(1);
  leaving.abort();
  await expect.poll(threads).toBe(0);
  await expect(reader.next()).rejects.toThrow();
  await expect(open(csv, leaving.signal)).rejects.toThrow();
});

test('the thread ends when its reader closes it before the first batch', async () => {
  const { close } = await open(filler(4 * 1_048_576));
  await close();
  await expect.poll(threads).toBe(0);
});
