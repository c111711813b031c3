import { readdir } from 'node:fs/promises';
import readWorkbook, { readSheet } from 'read-excel-file/node';
import { beforeAll, describe, expect, test } from 'vitest';
import { useLedgerScene } from '../support/ledger-scene.ts';
import { planRunInDoubt } from '../support/run-in-doubt.ts';
import type { Ended } from '../support/volley.ts';

const scene = useLedgerScene();
let run: string;
beforeAll(async () => {
  run = await planRunInDoubt(scene.opened.ledger, { requests: 3 });
});

const report = (...words: string[]): Promise<Ended> => scene.command(['report', ...words]);

describe('volley report failures', () => {
  test('volley report failures prints a table by default', async () => {
    const { code, stdout } = await report('failures', run);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Requests of run .* that were not accepted\n/);
    expect(stdout).toMatch(/│ \w+ +│ +3 │ in doubt .* no answer within 30000 ms /);
    expect(stdout).toMatch(/│ Total .* 3 requests /);
  });

  test('volley report failures writes a workbook to a file whose name ends with .xlsx', async () => {
    expect(await report('failures', run, '--out', 'failures.xlsx')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^Wrote \d+ lines? to failures\.xlsx\.\n$/),
    });
    const [titles, ...rows] = await readSheet(`${scene.workspace.folder}/failures.xlsx`);
    expect(titles).toContain('MessageID');
    expect(rows).toHaveLength(4);
  });

  test('volley report failures takes --json as short for --format json, and refuses both together', async () => {
    expect(JSON.parse((await report('failures', run, '--json')).stdout).rows).toHaveLength(3);
    expect(await report('failures', run, '--json', '--format', 'csv')).toMatchObject({ code: 2, stdout: '' });
  });

  test('volley report failures prints no control characters on a terminal, and leaves them unchanged in a pipe', async () => {
    const words = 'the service says \u009b2J \u202e and no more';
    await scene.opened.ledger.pool.query(`UPDATE requests SET reason = $2 WHERE run_id = $1`, [
      run,
      JSON.stringify(words),
    ]);
    for (const format of ['csv', 'json', 'ndjson', 'html']) {
      const words = ['report', 'failures', run, '--format', format];
      const shown = await scene.command(words, { resultTerminal: true });
      expect(shown.stdout, format).not.toMatch(/[\u009b\u202e]/);
    }
    expect((await report('failures', run, '--format', 'csv')).stdout).toContain(words);
  });

  test('volley report failures leaves no file for a run that does not exist', async () => {
    expect(await report('failures', 'none', '--out', 'none.csv')).toMatchObject({ code: 2 });
    expect(await readdir(scene.workspace.folder)).not.toContain('none.csv');
  });
});

describe('volley report run', () => {
  test('volley report run has its tables in a workbook, and its times in the chosen zone', async () => {
    expect(await report('run', run, '--out', 'run.xlsx', '--time-zone', 'Pacific/Auckland')).toMatchObject({
      code: 0,
      stdout: '',
    });
    const sheets = await readWorkbook(`${scene.workspace.folder}/run.xlsx`);
    expect(sheets.map(({ sheet }) => sheet)).toContain('Not accepted');
    expect(sheets.find(({ sheet }) => sheet === 'Timeline')?.data[0]).toContain('At (Pacific/Auckland)');
  });

  test('volley report run refuses CSV and names the other formats', async () => {
    const { code, stderr } = await report('run', run, '--format', 'csv');
    expect(code).toBe(2);
    expect(stderr).toContain('`volley report contacts` or `volley report failures`');
  });
});

describe('volley report campaigns', () => {
  test('volley report campaigns has one line for each run, and their totals', async () => {
    const { code, stdout } = await report('campaigns', 'test', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      rows: [{ run, campaign: 'test', state: 'completed', requests: 3, unknown: 6, price: '0' }],
      totals: [{ run: 'Total', requests: 3, unknown: 6, campaign: null }],
    });
  });
});
