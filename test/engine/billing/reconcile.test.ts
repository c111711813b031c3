import { gzipSync } from 'node:zlib';
import { Big } from 'big.js';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ChargeEffect, DifferenceFilter } from '../../../src/ledger/billing/reconcile.ts';
import { divideRequests } from '../../../src/ledger/requests/divide.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { examples } from '../../support/examples.ts';
import {
  anInvoice,
  type Charged,
  type Invoiced,
  invoicedRun,
  invoiceRow,
  november,
  reconcile,
} from '../../support/invoices.ts';
import { inOrder } from '../../support/sheets.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';

const opened = testLedger();
beforeEach(() => emptyLedger(opened.ledger.pool));

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new Error(`there is no item ${index}`);
  return item;
}

describe('reconcileInvoice', () => {
  test('an invoice with the line and price of every recipient agrees', async () => {
    const sent = await invoicedRun(opened, ['accepted', 'accepted']);
    const { lines, totals } = await reconcile(opened, anInvoice(sent.map((one) => invoiceRow(one))));
    expect(lines).toEqual([]);
    expect(totals).toMatchObject([
      { kind: 'agrees', lines: 4, invoicedPrice: '0.20', price: '0.20', difference: '0.00' },
      { kind: 'all', lines: 4 },
    ]);
  });

  test('a line with an unknown MessageID is a difference', async () => {
    const stranger = { run: '', messageId: 'Stranger1', address: '+64211234567' };
    const { lines } = await reconcile(opened, anInvoice([invoiceRow(stranger)]));
    expect(lines).toMatchObject([
      { kind: 'billed but not sent', messageId: 'Stranger1', line: 2, run: null, difference: '0.05' },
    ]);
    expect(lines[0]?.detail).toBe('no request has this MessageID');
  });

  test('a line with a recipient outside the request is a difference', async () => {
    const sent = await invoicedRun(opened, ['accepted']);
    const other = { ...at(sent, 0), address: '+64219999999' };
    const rows = [...sent, other].map((one) => invoiceRow(one));
    const { lines } = await reconcile(opened, anInvoice(rows));
    expect(lines).toMatchObject([
      { kind: 'billed but not sent', recipient: '+64219999999', detail: 'the request has no such recipient' },
    ]);
  });

  test('an accepted recipient without a line is a difference with price and payer', async () => {
    const sent = await invoicedRun(opened, ['accepted']);
    const { lines } = await reconcile(opened, anInvoice([invoiceRow(at(sent, 0))]));
    expect(lines).toMatchObject([
      {
        kind: 'not in the invoice',
        messageId: at(sent, 1).messageId,
        recipient: at(sent, 1).address,
        run: at(sent, 1).run,
        subAccount: 'North',
        chargeCode: 'C1',
        invoicedPrice: null,
        price: '0.05',
        difference: '-0.05',
        detail: 'delivered, sent 2026-11-21 10:00',
      },
    ]);
  });

  test('another price is a difference, exact to the last digit', async () => {
    const sent = await invoicedRun(opened, ['accepted'], {
      charged: (index) => ({ units: '1', price: index === 0 ? '0.1' : null }),
    });
    const rows = [invoiceRow(at(sent, 0), '0.10000000000000000001'), invoiceRow(at(sent, 1), '0.05')];
    const { lines } = await reconcile(opened, anInvoice(rows));
    expect(lines).toMatchObject([
      { kind: 'other price', difference: '0.00000000000000000001', detail: null },
      { kind: 'other price', difference: '0.05', detail: 'no price was reported' },
    ]);
  });

  test('the prices 0.050 and 0.05 are equal', async () => {
    const sent = await invoicedRun(opened, ['accepted']);
    const { lines } = await reconcile(opened, anInvoice(sent.map((one) => invoiceRow(one, '0.050', '1.0'))));
    expect(lines).toEqual([]);
  });

  test('other units at the same price are a difference', async () => {
    const sent = await invoicedRun(opened, ['accepted']);
    const rows = [invoiceRow(at(sent, 0), '0.05', '2'), invoiceRow(at(sent, 1))];
    const { lines } = await reconcile(opened, anInvoice(rows));
    expect(lines).toMatchObject([
      { kind: 'other units', invoicedUnits: '2', units: '1', difference: '0.00' },
    ]);
  });

  test('every repeated line is a difference that names the first line', async () => {
    const sent = await invoicedRun(opened, ['accepted']);
    const rows = [...sent, at(sent, 0), at(sent, 0)].map((one) => invoiceRow(one));
    const { lines } = await reconcile(opened, anInvoice(rows));
    expect(lines).toMatchObject([
      { kind: 'twice in the invoice', line: 4, difference: '0.05', detail: 'already on line 2' },
      { kind: 'twice in the invoice', line: 5, run: at(sent, 0).run, detail: 'already on line 2' },
    ]);
  });

  test('a line for a request in doubt proves acceptance, and the difference says how to resolve it', async () => {
    const sent = await invoicedRun(opened, ['in_doubt']);
    const { lines } = await reconcile(opened, anInvoice([invoiceRow(at(sent, 0))]));
    expect(lines).toMatchObject([{ kind: 'unknown', run: at(sent, 0).run, request: 1 }]);
    expect(lines[0]?.detail).toContain(`volley resolve ${at(sent, 0).run} --request 1 --accepted`);
  });

  test("a line for a rejected request is a difference with the service's words", async () => {
    const sent = await invoicedRun(opened, ['rejected']);
    const { lines } = await reconcile(opened, anInvoice([invoiceRow(at(sent, 0))]));
    expect(lines).toMatchObject([
      { kind: 'billed but not sent', detail: 'the request is rejected: No credit', price: null },
    ]);
  });

  test('recipients of a divided request are found only under their new MessageIDs', async () => {
    const sent = await invoicedRun(opened, ['rejected', 'accepted']);
    const { run } = at(sent, 0);
    await opened.ledger.pool.query(`UPDATE runs SET state = 'running' WHERE run_id = $1`, [run]);
    await inTransaction(opened.ledger.pool, (client) => divideRequests(client, { run, requests: [1] }));
    await opened.ledger.pool.query(
      `UPDATE requests SET state = 'accepted', updated_at = '2026-11-21T10:01:00Z' WHERE divided_from = 1`,
    );
    const { lines } = await reconcile(opened, anInvoice(sent.map((one) => invoiceRow(one))));
    expect(lines.map(({ kind, detail }) => `${kind}: ${detail}`)).toEqual([
      'billed but not sent: the request was rejected and divided: its recipients have other MessageIDs',
      'billed but not sent: the request was rejected and divided: its recipients have other MessageIDs',
      'not in the invoice: accepted, sent 2026-11-21 10:01',
      'not in the invoice: accepted, sent 2026-11-21 10:01',
    ]);
  });

  test('a recipient suppressed before sending is not missing from the invoice', async () => {
    const sent = await invoicedRun(opened, ['accepted']);
    await opened.ledger.pool.query(`UPDATE recipient_outcomes SET outcome = 'cancelled' WHERE position = 1`);
    expect((await reconcile(opened, anInvoice([invoiceRow(at(sent, 1))]))).lines).toEqual([]);
    expect((await reconcile(opened, anInvoice(sent.map((one) => invoiceRow(one))))).lines).toMatchObject([
      { kind: 'billed but not sent', detail: 'excluded from the request: suppressed after planning' },
    ]);
  });

  test('recipients sent to in another period, by its time zone, are differences', async () => {
    const late = new Date('2026-11-30T10:59:59Z');
    const sent = await invoicedRun(opened, ['accepted'], { at: late });
    const rows = sent.map((one) => invoiceRow(one));
    const december = { from: '2026-12-01', until: '2027-01-01', timeZone: 'Pacific/Auckland' };
    expect((await reconcile(opened, anInvoice(rows), december)).lines).toMatchObject([
      { kind: 'other period', difference: '0.05', detail: 'sent 2026-11-30 23:59, price 0.05' },
      { kind: 'other period' },
    ]);
    expect((await reconcile(opened, anInvoice([]), december)).lines).toEqual([]);
    const auckland = { ...november, timeZone: 'Pacific/Auckland' };
    expect((await reconcile(opened, anInvoice(rows), auckland)).lines).toEqual([]);
  });

  test('an invoice of more lines than the caller allows is refused', async () => {
    const sent = await invoicedRun(opened, ['accepted']);
    const invoice = anInvoice(sent.map((one) => invoiceRow(one)));
    await expect(reconcile(opened, { ...invoice, maxLines: 1 })).rejects.toThrow('It has more than 1 lines.');
  });

  test('requests of accounts that the caller may not see are as unknown as MessageIDs of strangers', async () => {
    const own = await invoicedRun(opened, ['accepted']);
    const others = await invoicedRun(opened, ['accepted', 'in_doubt'], { account: 'other' });
    const invoice = anInvoice([...own, ...others].map((one) => invoiceRow(one)));
    const { lines } = await reconcile(opened, invoice, november, { visibleAccounts: ['sandbox'] });
    expect(new Set(lines.map(({ kind, run, detail }) => [kind, run, detail].join()))).toEqual(
      new Set(['billed but not sent,,no request has this MessageID']),
    );
    expect(lines).toHaveLength(others.length);
    const { lines: missing } = await reconcile(opened, anInvoice([]), november, {
      visibleAccounts: ['sandbox'],
    });
    expect(missing.map(({ messageId }) => messageId)).toEqual(own.map(({ messageId }) => messageId));
  });

  test('a filter by account and SubAccount limits the missing recipients', async () => {
    await invoicedRun(opened, ['accepted'], { account: 'other' });
    const only = { accounts: ['sandbox'] };
    expect((await reconcile(opened, anInvoice([]), november, only)).lines).toEqual([]);
    const north = { accounts: ['other'], subAccounts: [null, 'North'] };
    expect((await reconcile(opened, anInvoice([]), november, north)).lines).toHaveLength(2);
    expect((await reconcile(opened, anInvoice([]), november, { subAccounts: [null] })).lines).toEqual([]);
  });

  test('phone numbers match in any spelling', async () => {
    const [one, two] = await invoicedRun(opened, ['accepted']);
    if (!one || !two) throw new Error('two recipients');
    const rows = [
      invoiceRow({ ...one, address: '0400 000 001' }),
      invoiceRow({ ...two, address: two.address.replace('+', '') }),
    ];
    expect((await reconcile(opened, anInvoice(rows, { country: 'AU' }))).lines).toEqual([]);
  });

  test('the invoice file may be compressed and have a byte order mark, other column names and a decimal comma', async () => {
    const sent = await invoicedRun(opened, ['accepted']);
    const rows = sent.map(({ messageId, address }) => `${address};"0,05";${messageId}`);
    const bytes = gzipSync(`\uFEFFTo;Total cost;Our ref\n${rows.join('\n')}\n`);
    const columns = { MessageID: 'Our ref', Price: 'Total cost' };
    const invoice = anInvoice([], { bytes: inOrder([bytes]), columns, decimal: 'comma' });
    expect((await reconcile(opened, invoice)).lines).toEqual([]);
  });
});

describe('unreadable lines of an invoice', () => {
  const rows = ['Abc,+64211234567,0.05,1', 'Abc,+64211234568,"1,000.00",1', ',+64211234569,0.05,1', 'Total'];

  test('an unreadable line is an input error with its line number', async () => {
    expect(await problemsRejected(() => reconcile(opened, anInvoice(rows)))).toEqual([
      'invoice.csv:3:3: "1,000.00" is no price with a decimal point. Write it without thousands separators.',
      'invoice.csv:4:1: The MessageID is missing.',
      'invoice.csv:5: 1 value, but the header has 4 columns.',
      'invoice.csv: 3 lines of the invoice cannot be read, so nothing was compared. Fix them, or skip them with --skip-unreadable.',
    ]);
  });

  test('unreadable lines are skipped on request', async () => {
    const { lines } = await reconcile(opened, anInvoice(rows, { skipUnreadable: true }));
    expect(lines.map(({ line }) => line)).toEqual([2]);
  });

  test('an amount with the other decimal separator is unreadable', async () => {
    const [problem] = await problemsRejected(() => reconcile(opened, anInvoice(['Abc,1,"0,05",1'])));
    expect(problem).toContain('Set --decimal comma');
  });
});

test('columns that cannot be identified are asked for', async () => {
  const bytes = inOrder([Buffer.from('Ref,Reference,To,Cost\n')]);
  expect(await problemsRejected(() => reconcile(opened, anInvoice([], { bytes })))).toEqual([
    'invoice.csv:1: Which column is MessageID? It may be "Ref", "Reference"; name it with --column MessageID="…".',
  ]);
});

describe('what an invoice costs', () => {
  const invoiceOf = async () => {
    const sent = await invoicedRun(opened, ['accepted', 'accepted', 'in_doubt'], {
      charged: (index) => ({ units: '1', price: index === 3 ? null : '0.05' }),
    });
    const [dearer, cheaper, , unpriced, doubtful] = [0, 1, 2, 3, 4].map((index) => at(sent, index));
    if (!dearer || !cheaper || !unpriced || !doubtful) throw new Error('six recipients');
    return anInvoice([
      invoiceRow(cheaper, '0.01'),
      invoiceRow(unpriced, '0.05'),
      invoiceRow(doubtful, '0.05'),
      invoiceRow(dearer, '0.07'),
      invoiceRow(dearer, '0.07'),
    ]);
  };

  test('each difference says what it means, and what costs most comes first', async () => {
    const { lines, totals } = await reconcile(opened, await invoiceOf());
    expect(lines.map(({ kind, effect, difference }) => [kind, effect, difference])).toEqual([
      ['twice in the invoice', 'charged too much', '0.07'],
      ['other price', 'charged too much', '0.02'],
      ['other price', 'not known', '0.05'],
      ['unknown', 'not known', '0.05'],
      ['not in the invoice', 'charged too little', '-0.05'],
      ['other price', 'charged too little', '-0.04'],
    ]);
    expect(totals).toMatchObject([
      { kind: 'twice in the invoice', lines: 1, tooMuch: '0.07', notKnown: '0', tooLittle: '0' },
      { kind: 'other price', lines: 3, tooMuch: '0.02', notKnown: '0.05', tooLittle: '-0.04' },
      { kind: 'unknown', lines: 1, notKnown: '0.05' },
      { kind: 'not in the invoice', lines: 1, tooLittle: '-0.05' },
      { kind: 'all', tooMuch: '0.09', notKnown: '0.10', tooLittle: '-0.09', difference: '0.10' },
    ]);
  });

  test('the differences of a finding, a meaning or a text are read page by page, with their own sums', async () => {
    const ask = async (filter: DifferenceFilter, page: { after?: number; limit?: number } = {}) => {
      const invoice = await invoiceOf();
      const scope = { accounts: ['sandbox'] };
      const { lines, askedTotals } = await reconcile(opened, invoice, november, scope, { filter, ...page });
      await emptyLedger(opened.ledger.pool);
      return { differences: lines.map(({ difference }) => difference), all: askedTotals.at(-1)?.lines };
    };
    expect(await ask({ kind: 'other price' })).toEqual({ differences: ['0.02', '0.05', '-0.04'], all: 3 });
    expect(await ask({ kind: 'other price' }, { after: 1, limit: 1 })).toEqual({
      differences: ['0.05'],
      all: 3,
    });
    expect(await ask({ effect: 'charged too little' })).toEqual({
      differences: ['-0.05', '-0.04'],
      all: 2,
    });
    expect((await ask({ text: 'NORTH' })).all).toBe(6);
    expect((await ask({ text: '%' })).all).toBe(0);
  });
});

/** Invoices as a faulty service would write them. */
const mistakes = fc.array(
  fc.record({
    recipient: fc.nat(7),
    price: fc.constantFrom('0.05', '0.07', '', '-0.05', '12345678901234567890.12345678901234567890'),
    stranger: fc.boolean(),
  }),
  { maxLength: 20 },
);
const charges = fc.array(
  fc.record({ units: fc.constant('1'), price: fc.constantFrom(null, '0.05', '0.07', '0') }),
  { minLength: 8, maxLength: 8 },
);

test("for any invoice, the differences add up to the invoice's total minus the ledger's", async () => {
  await fc.assert(
    fc.asyncProperty(mistakes, charges, async (written, charged: readonly Charged[]) => {
      await emptyLedger(opened.ledger.pool);
      const sent = await invoicedRun(opened, ['accepted', 'rejected', 'in_doubt', 'accepted'], {
        charged: (index) => at(charged, index),
      });
      const rows = written.map(({ recipient, price, stranger }) => {
        const one: Invoiced = at(sent, recipient);
        return invoiceRow(stranger ? { ...one, messageId: 'Stranger' } : one, price);
      });
      const { lines, totals } = await reconcile(opened, anInvoice(rows));
      const add = (amounts: readonly (string | null)[]): string =>
        amounts.reduce((sum, amount) => sum.plus(amount || '0'), new Big(0)).toFixed();
      const invoiced = add(written.map(({ price }) => price));
      const known = add([0, 1, 6, 7].map((index) => at(charged, index).price));
      const more = new Big(invoiced).minus(known).toFixed();
      expect(add(lines.map(({ difference }) => difference))).toBe(more);
      const all = totals.find(({ kind }) => kind === 'all');
      expect(add([all?.difference ?? '0'])).toBe(more);
      expect(add([all?.invoicedPrice ?? '0'])).toBe(invoiced);
      // The sums of the findings are those of their lines, and by what they mean, of the whole.
      for (const { kind, lines: count, difference, tooMuch, tooLittle, notKnown } of totals) {
        expect(add([tooMuch, tooLittle, notKnown])).toBe(add([difference]));
        if (kind === 'agrees' || kind === 'tests') continue;
        const own = lines.filter((line) => kind === 'all' || line.kind === kind);
        const agreed = kind === 'all' ? (totals.find((each) => each.kind === 'agrees')?.lines ?? 0) : 0;
        expect(own.length + agreed).toBe(count);
        const sumOf = (effect: ChargeEffect): string =>
          add(own.filter((line) => line.effect === effect).map((line) => line.difference));
        expect(add([tooMuch])).toBe(sumOf('charged too much'));
        expect(add([tooLittle])).toBe(sumOf('charged too little'));
        expect(add([notKnown])).toBe(sumOf('not known'));
        expect(sumOf('same price')).toBe('0');
      }
      // Every line has one result.
      const ofInvoice = lines.filter(({ line }) => line !== null).length;
      const agreeing = totals.find(({ kind }) => kind === 'agrees')?.lines ?? 0;
      expect(ofInvoice + agreeing).toBe(written.length);
    }),
    examples(5),
  );
});
