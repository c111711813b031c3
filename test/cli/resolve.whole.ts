import { describe, expect, test } from 'vitest';
import { summariseRun } from '../../src/ledger/runs/describe-run.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { planRunInDoubt } from '../support/run-in-doubt.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import type { Ended } from '../support/volley.ts';
import { accountsYaml, contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene({
  'accounts.yaml': accountsYaml.replace('timeouts:', 'statusLookUp: on\n    timeouts:'),
  'campaign.yaml': smsCampaignYaml,
  'contacts.csv': contactsCsv(3),
});

const command = (...words: string[]): Promise<Ended> => scene.command(words);

const why = ['--reason', 'seen in the portal'];

async function requestsOf(run: string) {
  return (await summariseRun(scene.ledger.pool, run))?.requests;
}

async function messageIdOf(run: string, request: number): Promise<string> {
  const sql = 'SELECT message_id FROM request_states WHERE run_id = $1 AND request = $2';
  const { rows } = await scene.ledger.pool.query<{ message_id: string }>(sql, [run, request]);
  return rows[0]?.message_id ?? '';
}

/** The sandbox has accepted this run. */
async function sentAndDoubted(): Promise<string> {
  const { stdout } = await command('run', 'campaign.yaml', '--json');
  const { run }: { run: string } = JSON.parse(stdout);
  await createRequestRows(scene.ledger.pool, run);
  await scene.ledger.pool.query(
    `UPDATE requests SET state = 'in_doubt', reason = '"connection reset"' WHERE run_id = $1`,
    [run],
  );
  return run;
}

describe('volley resolve without a resolution', () => {
  test('volley resolve lists requests in doubt with MessageID, recipients, attempts, time and reason', async () => {
    const run = await planRunInDoubt(scene.ledger, { requests: 2 });
    const { code, stdout, stderr } = await command('resolve', run);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Request.*MessageID.*Recipients.*Attempts.*Since \(UTC\).*Reason/);
    const id = await messageIdOf(run, 2);
    expect(stdout).toMatch(new RegExp(`2 .*${id} .*2 .*1 .*20\\d\\d-.* no answer within 30000 ms`));
    expect(stderr).toContain(`volley resolve ${run} --look-up`);
  });

  test('volley resolve offers the look-up only where the account has it', async () => {
    const run = await planRunInDoubt(scene.ledger, { requests: 1 });
    await scene.write('accounts.yaml', accountsYaml);
    const { stderr } = await command('resolve', run);
    expect(stderr).not.toContain('--look-up');
    expect(stderr).toContain('--accepted, --resend or --abandon with --reason "…" resolves them.');
  });

  test('volley resolve --json prints one object a line, for the named requests only', async () => {
    const run = await planRunInDoubt(scene.ledger, { requests: 3 });
    const id = await messageIdOf(run, 3);
    const { stdout } = await command('resolve', run, '--request', '1', id, '--json');
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { request: 1, recipients: 2, attempts: 1, reason: 'no answer within 30000 ms' },
      { request: 3, messageId: id, since: expect.stringMatching(/^20.*Z$/) },
    ]);
  });

  test('volley resolve says that no request is in doubt', async () => {
    const run = await planRunInDoubt(scene.ledger);
    await command('resolve', run, '--accepted', ...why);
    expect(await command('resolve', run)).toMatchObject({
      code: 0,
      stdout: `No request of run ${run} is in doubt.\n`,
    });
  });
});

describe('volley resolve with a resolution', () => {
  test.each([
    ['--accepted', { accepted: 3, in_doubt: 0 }, '3 requests with 6 recipients: accepted.'],
    ['--abandon', { abandoned: 3, in_doubt: 0 }, '3 requests with 6 recipients: abandoned.'],
    [
      '--resend',
      { planned: 3, in_doubt: 0 },
      '3 requests with 6 recipients: to be sent again; volley resume',
    ],
  ])('volley resolve %s resolves all requests in doubt', async (word, states, text) => {
    const run = await planRunInDoubt(scene.ledger, { requests: 3 });
    const { code, stdout } = await command('resolve', run, word, ...why);
    expect([code, stdout.slice(0, text.length)]).toEqual([0, text]);
    expect(await requestsOf(run)).toMatchObject(states);
  });

  test('volley resolve resolves the named requests, and both reports show who decided and why', async () => {
    const run = await planRunInDoubt(scene.ledger, { requests: 3 });
    const id = await messageIdOf(run, 3);
    const { stdout } = await command(
      'resolve',
      run,
      '--request',
      '1',
      id,
      '--abandon',
      ...why,
      '--by',
      'ann',
      '--json',
    );
    expect(JSON.parse(stdout)).toEqual({ run, resolution: 'abandon', requests: 2, recipients: 4 });
    expect(await requestsOf(run)).toMatchObject({ abandoned: 2, in_doubt: 1 });
    const report = JSON.parse((await command('report', 'run', run, '--json')).stdout);
    expect(report.resolutions).toMatchObject([
      { resolution: 'abandon', by: 'ann', reason: 'seen in the portal', requests: 2 },
    ]);
    expect((await command('report', 'run', run)).stdout).toContain('abandoned by ann: seen in the portal');
  });

  test('volley resolve refuses named requests together with an answer', async () => {
    const run = await planRunInDoubt(scene.ledger, { requests: 2 });
    const both = ['--request', '1', '--answer', 'no answer'];
    const { code, stderr } = await command('resolve', run, ...both, '--accepted', ...why);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('--answer <words> and --request <request...> exclude each other'),
    ]);
    expect(await requestsOf(run)).toMatchObject({ in_doubt: 2 });
  });

  test('volley resolve records the decision for user@host by default', async () => {
    const run = await planRunInDoubt(scene.ledger);
    await command('resolve', run, '--accepted', ...why);
    const { rows } = await scene.ledger.pool.query('SELECT resolved_by FROM resolutions WHERE run_id = $1', [
      run,
    ]);
    expect(rows).toEqual([{ resolved_by: 'tester@here' }]);
  });

  test('volley resolve shows its reason in the result file', async () => {
    const run = await sentAndDoubted();
    await command('resolve', run, '--accepted', ...why, '--by', 'ann');
    const { stdout } = await command('report', 'contacts', run);
    expect(stdout.match(/accepted,,resolved as accepted by ann: seen in the portal/g)).toHaveLength(3);
  });

  test('volley resolve --resend and volley resume send the same MessageIDs again', async () => {
    const run = await sentAndDoubted();
    await command('resolve', run, '--request', '2', '--resend', ...why);
    const status = await command('status', run);
    expect(status.stdout).toContain(`\`volley resume ${run}\` does it`);
    // The run looks up the other two at its end.
    expect(await command('resume', run)).toMatchObject({ code: 0 });
    expect(await requestsOf(run)).toMatchObject({ accepted: 3, in_doubt: 0 });
    const sent = (await scene.journal()).map(({ messageId }) => messageId);
    expect(sent).toHaveLength(4);
    expect(sent.filter((id) => id === sent[3])).toHaveLength(2);
    expect(sent[3]).toBe(await messageIdOf(run, 2));
  });
});

describe('volley resolve with a mistake', () => {
  test.each([
    ['a word without a reason', ['--accepted'], /--reason: --accepted needs a reason/],
    ['a blank reason', ['--abandon', '--reason', ' '], /--reason: --abandon needs a reason/],
    [
      'a reason without a word',
      ['--reason', 'x'],
      /--reason: It needs one of --accepted, --resend and --abandon/,
    ],
    ['two words', ['--accepted', '--resend', ...why], /exclude each other/],
    ['a word and a look-up', ['--look-up', '--abandon', ...why], /exclude each other/],
    [
      'a request that is not there',
      ['--request', '9', '--accepted', ...why],
      /request 9: Run .* has no such request/,
    ],
    [
      'a MessageID that is not there',
      ['--request', '1', 'ab', '--resend', ...why],
      /request ab: .* no such request/,
    ],
  ])('volley resolve refuses %s, and changes nothing', async (_, words, message) => {
    const run = await planRunInDoubt(scene.ledger);
    const { code, stdout, stderr } = await command('resolve', run, ...words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(await requestsOf(run)).toMatchObject({ total: 1, in_doubt: 1 });
  });

  test('volley resolve refuses a request that is not in doubt, with its state and the reason for it', async () => {
    const run = await planRunInDoubt(scene.ledger, { requests: 2 });
    await command('resolve', run, '--request', '2', '--accepted', ...why, '--by', 'ann');
    const { code, stderr } = await command('resolve', run, '--request', '1', '2', '--abandon', ...why);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'request 2: It is accepted (resolved as accepted by ann: seen in the portal); only a request that is in doubt',
    );
    expect(await requestsOf(run)).toMatchObject({ accepted: 1, in_doubt: 1 });
  });

  test('volley resolve --resend refuses a cancelled run', async () => {
    const run = await planRunInDoubt(scene.ledger, { runState: 'cancelled' });
    const { code, stderr } = await command('resolve', run, '--resend', ...why);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`volley rerun ${run} --state unknown`)]);
    expect(await command('resolve', run, '--abandon', ...why)).toMatchObject({ code: 0 });
  });

  test('volley resolve refuses a run that does not exist', async () => {
    expect(await command('resolve', 'none')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no such run'),
    });
  });
});

describe('volley resolve --look-up', () => {
  test('volley resolve --look-up accepts what the service has, leaves the others in doubt, and sends nothing', async () => {
    const run = await sentAndDoubted();
    // This request never reached the service.
    await scene.ledger.pool.query(
      `
      WITH fourth AS (
        INSERT INTO requests (run_id, request, envelope, recipients, state)
        SELECT run_id, 4, envelope, recipients, state FROM request_states WHERE run_id = $1 AND request = 3
      )
      INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines, addresses)
      VALUES ($1, 4, 4, 1, '{1}', '{1}', '{0}', '{1}', '{5}', '{+61412000004}')
      `,
      [run],
    );
    const { code, stdout } = await command('resolve', run, '--look-up');
    expect([code, stdout]).toEqual([
      3,
      'The service was asked. 3 requests found and accepted; 1 not found, which proves nothing: still in doubt.\n',
    ]);
    expect(await requestsOf(run)).toMatchObject({ accepted: 3, in_doubt: 1 });
    expect((await command('report', 'contacts', run)).stdout).toContain('proved by the status look-up');
    expect(await scene.journal()).toHaveLength(3);
  });

  test('volley resolve --look-up ends with exit code 0 when no request is left in doubt', async () => {
    const run = await sentAndDoubted();
    const { code, stdout } = await command('resolve', run, '--request', '1', '--look-up', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([0, { run, found: 1, notFound: 0, unclear: 0 }]);
  });

  test('volley resolve --look-up prints an unclear answer of the service', async () => {
    const run = await sentAndDoubted();
    await scene.sandbox.close();
    const { code, stdout, stderr } = await command('resolve', run, '--request', '1', '--look-up');
    expect([code, stderr]).toEqual([3, expect.stringContaining('request 1: connection refused')]);
    expect(stdout).toContain('1 without a clear answer: still in doubt');
  });

  test('volley resolve --look-up ends with exit code 4 when the service refuses the credential', async () => {
    const run = await sentAndDoubted();
    await scene.replaceSandbox({ token: 'right' });
    const { code, stdout } = await command('resolve', run, '--look-up');
    expect([code, stdout]).toEqual([4, expect.stringContaining('The service refused the credential: ')]);
    expect(await requestsOf(run)).toMatchObject({ in_doubt: 3 });
  });

  test('volley resolve --look-up is refused for an account without a status look-up', async () => {
    const run = await sentAndDoubted();
    await scene.write('accounts.yaml', accountsYaml);
    const { code, stderr } = await command('resolve', run, '--look-up');
    expect([code, stderr]).toEqual([2, expect.stringContaining('set "statusLookUp: on"')]);
  });
});

test('doctor warns of requests in doubt, and no longer when an operator has abandoned them', async () => {
  const doubts = async () => {
    const { checks }: { checks: { name: string; state: string; found: string }[] } = JSON.parse(
      (await command('doctor', '--json')).stdout,
    );
    return checks.find(({ name }) => name === 'requests in doubt');
  };
  await scene.ledger.pool.query(`DELETE FROM run_counts WHERE counted = 'in_doubt'`);
  const run = await planRunInDoubt(scene.ledger, { requests: 2 });
  expect(await doubts()).toMatchObject({
    state: 'warning',
    found: expect.stringContaining('recipients are in requests'),
  });
  await command('resolve', run, '--abandon', ...why);
  expect(await doubts()).toMatchObject({ state: 'ok' });
});
