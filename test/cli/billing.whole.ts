import { beforeAll, describe, expect, test } from 'vitest';
import { createWorld, performStep, type World } from '../support/billing-world.ts';
import { useLedgerScene } from '../support/ledger-scene.ts';
import type { Ended } from '../support/volley.ts';

const scene = useLedgerScene();
let world: World;
beforeAll(async () => {
  world = await createWorld(scene.opened.ledger, '2026-09-26T12:30:00Z');
  const payers = [{ SubAccount: 'North', ChargeCode: '=A1' }, { ChargeCode: 'B-2' }];
  const rates = { currency: 'NZD', tariffs: [[{ price: '0.08', tax: '0.15', from: null, until: null }]] };
  await performStep(world, { kind: 'plan', channel: 'sms', payers, contacts: 3, chunkSize: 2, rates });
  await performStep(world, { kind: 'send', run: 0, requests: 4, ends: ['accepted', 'in_doubt'] });
});

const run = (...words: string[]): Promise<Ended> => scene.command(words);

const billing = (...words: string[]): Promise<Ended> => run('billing', 'report', ...words);

describe('volley billing report', () => {
  test('volley billing report has lines by SubAccount and ChargeCode, with unknown recipients in their own column', async () => {
    const { rows, totals } = JSON.parse((await billing('--json')).stdout);
    expect(rows).toMatchObject([
      { SubAccount: 'North', ChargeCode: '=A1', accepted: 2, unknown: 0, estimated: '0.32', currency: 'NZD' },
      {
        SubAccount: '(none)',
        ChargeCode: 'B-2',
        accepted: 0,
        unknown: 1,
        estimated: '0',
        currency: 'NZD',
      },
    ]);
    expect(totals).toMatchObject([{ SubAccount: 'Total', accepted: 2, unknown: 1, difference: '-0.32' }]);
  });

  test('volley billing report counts recipients whose price is not known yet in their own column', async () => {
    const { rows, totals } = JSON.parse((await billing('--json')).stdout);
    expect(rows).toMatchObject([
      { SubAccount: 'North', accepted: 2, delivered: 0, notYetReported: 2, price: '0' },
      { SubAccount: '(none)', accepted: 0, notYetReported: 0 },
    ]);
    expect(totals).toMatchObject([{ notYetReported: 2 }]);
    expect((await billing()).stdout).toContain('Not yet reported');
  });

  test('volley billing report is refused for a file name of another format, before the report is made', async () => {
    const out = (name: string, ...words: string[]) => billing('--out', name, ...words);
    const refused = await Promise.all([
      out('x.pdf'),
      out('x.pdf', '--format', 'html'),
      out('x.cvs'),
      out('x.docx'),
      out('x.xlsx', '--format', 'csv'),
      out('x.csv', '--json'),
    ]);
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2]);
    expect(refused.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('--out x.pdf: Volley writes no PDF. Use .html'),
      expect.stringContaining('--out x.pdf: Volley writes no PDF. Use .html'),
      expect.stringContaining('--out x.cvs: There is no format .cvs; expected .csv, .json,'),
      expect.stringContaining('--out x.docx: There is no format .docx;'),
      expect.stringContaining('--out x.xlsx: The file is called .xlsx and would contain csv.'),
      expect.stringContaining('--out x.csv: The file is called .csv and would contain json.'),
    ]);
    expect(refused[2]?.stderr).toContain('Did you mean ".csv"?');
    expect(await out('bill.2026-11', '--format', 'csv')).toMatchObject({ code: 0 });
    expect(await out('bill.txt')).toMatchObject({ code: 0 });
    expect(await scene.workspace.read('bill.2026-11')).toMatch(/^SubAccount,/);
    expect(await scene.workspace.read('bill.txt')).toMatch(/^Billing\n/);
  });

  test('volley billing report uses dates of the chosen zone', async () => {
    const auckland = ['--time-zone', 'Pacific/Auckland', '--by', 'day', '--format', 'ndjson'];
    expect(JSON.parse((await billing(...auckland)).stdout)).toMatchObject({ day: '2026-09-27', requests: 2 });
    expect((await billing(...auckland, '--to', '2026-09-27')).stdout).toBe('');
    const of = ['--from', '2026-09-27T00:30', '--to', '2026-09-27T00:45'];
    expect(JSON.parse((await billing(...auckland, ...of)).stdout)).toMatchObject({ requests: 2 });
  });

  test('volley billing report filters lines, also lines without a value', async () => {
    const { stdout } = await billing('--sub-account', '(none)', '--by', 'ChargeCode', '--format', 'csv');
    expect(stdout.split('\n').map((line) => line.split(',')[0])).toEqual(['ChargeCode', 'B-2', '']);
  });

  test('dimensions of --by can be separated by commas, or each have a --by', async () => {
    const { stdout } = await billing('--by', 'channel', '--by', 'ChargeCode', '--format', 'csv');
    expect(stdout).toMatch(/^Channel,ChargeCode,/);
    expect(stdout).toBe((await billing('--by', 'channel,ChargeCode', '--format', 'csv')).stdout);
  });

  test('volley billing report contains no ChargeCode that a spreadsheet would compute', async () => {
    const { stdout } = await billing('--format', 'csv');
    expect(stdout).toContain(`North,'=A1,`);
  });

  test.each([
    [['--by', 'Colour'], /"Colour" is none of SubAccount, Department, .* got "Colour"/],
    [['--by', 'day,day'], /"day" is given twice/],
    [['--by', 'day,Day'], /"Day" is given twice/],
    [['--by', 'day', '--by', 'day'], /"day" is given twice/],
    [['--from', '2026-11-01T08:37'], /billing keeps quarters of hours/],
    [['--to', '2026-11-01T00:31'], /billing keeps quarters of hours/],
    [['--channel', 'smss'], /expected email, sms, .* got "smss"\. Did you mean "sms"\?/],
    [['--from', '2026-02-30'], /expected a date such as 2026-11-01/],
    [['--from', '2026-11', '--to', '2026-11'], /2026-11-01T00:00 is not after --from/],
    [['--time-zone', 'Mars/Phobos'], /expected a time zone such as Pacific\/Auckland/],
    [['--run', 'none'], /run none: /],
    [['--campaign', 'nightly', 'test'], /campaign nightly: There is no run of this campaign/],
    [['--account', 'mian'], /account mian: There is no run of this account/],
    [['--sub-account', 'Nroth', '(none)'], /SubAccount Nroth: .*Did you mean "North"\? There is North\./],
    [['--charge-code', 'B-3'], /ChargeCode B-3: .*Did you mean "B-2"\? There are =A1, B-2\./],
    [['--department', 'Ops'], /Department Ops: .*The ledger has no Department\./],
  ])('volley billing report refuses %j with the reason', async (words, why) => {
    const { code, stdout, stderr } = await billing(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(why);
  });
});

describe('volley billing close', () => {
  test('the first month is not closed without a time zone, because it cannot be opened again', async () => {
    const { code, stderr } = await run('billing', 'close', '2026-09');
    expect([code, stderr]).toEqual([2, expect.stringContaining('name the time zone in which your months')]);
    expect((await run('billing', 'list')).stdout).toBe('No month is closed yet.\n');
  });

  test('volley billing close keeps a month byte for byte, and later changes are corrections in the next month', async () => {
    const zone = ['--time-zone', 'Pacific/Auckland'];
    const closed = await run('billing', 'close', '2026-09', ...zone, '--by', 'ann');
    expect(closed).toMatchObject({ code: 0, stderr: '' });
    expect(closed.stdout).toContain('2026-09 is closed: requests sent from 2026-09-01 00:00:00');
    const month = ['--from', '2026-09', '--to', '2026-10', ...zone];
    const formats = ['csv', 'json', 'html', 'xlsx'];
    const read = () =>
      Promise.all(formats.map(async (format) => (await billing(...month, '--format', format)).stdout));
    const before = await read();
    expect(before[1]).toMatch(/closed .* Pacific\/Auckland by ann/);

    await performStep(world, { kind: 'resolve', run: 0, resolution: 'accepted' });
    expect(await read()).toEqual(before);
    const later = await billing('--from', '2026-10', ...zone, '--by', 'month', '--format', 'ndjson');
    expect(JSON.parse(later.stdout)).toMatchObject({
      month: '2026-10',
      correctionOf: '2026-09',
      requests: 0,
      accepted: 1,
      unknown: -1,
      estimated: '0.16',
    });
  });

  test.each([
    [['2026-09', '--time-zone', 'Pacific/Auckland'], /ann closed it at .* as a month of Pacific\/Auckland/],
    [
      ['2026-12', '--time-zone', 'Pacific/Auckland'],
      /The last closed month is 2026-09 \(Pacific\/Auckland\)/,
    ],
    [['2026-10', '--time-zone', 'UTC'], /Close the month after it next, with --time-zone/],
    [['2026-13'], /expected a month such as 2026-11/],
  ])('volley billing close refuses %j with the reason', async (words, why) => {
    const { code, stderr } = await run('billing', 'close', ...words);
    expect(code).toBe(2);
    expect(stderr).toMatch(why);
  });

  test('volley billing list shows the closed months', async () => {
    expect(JSON.parse((await run('billing', 'list', '--json')).stdout)).toMatchObject({
      period: '2026-09',
      timeZone: 'Pacific/Auckland',
      closedBy: 'ann',
      endsAt: '2026-09-30T11:00:00.000Z',
    });
  });

  test('without a time zone, a later month is closed in that of the last one', async () => {
    const { code, stdout } = await run('billing', 'close', '2026-10');
    expect([code, stdout]).toEqual([0, expect.stringContaining('(a month of Pacific/Auckland)')]);
  });
});
