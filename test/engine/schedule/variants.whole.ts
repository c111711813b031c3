import { beforeEach, expect, test } from 'vitest';
import { receiveDeliveryReports } from '../../../src/ledger/delivery-reports/receive.ts';
import { signalPreload } from '../../support/dispatch-scene.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { useSandboxScene } from '../../support/sandbox-scene.ts';
import { type SignalAtPoint, signalVariable } from '../../support/signal-points.ts';
import { type Started, startVolley } from '../../support/volley.ts';
import { accountsYaml } from '../../support/workspace.ts';

const people = 1_200;
const campaign = (until: string): string => `campaign: night
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: to } }
message: { Message: "Hi [[name]], the short text" }
variants:
  - { name: short, share: 20% }
  - { name: long, share: 20%, message: { Message: "Hello [[name]], the long text" } }
  - { name: control, share: 10%, send: nothing }
until: ${until}
dispatch: { chunkSize: 5 }
`;

const numberOf = (index: number): string => `+614120${String(index).padStart(5, '0')}`;
const scene = useSandboxScene({
  'contacts.csv': `to,name\n${Array.from({ length: people }, (_, index) => `${numberOf(index)},Ann`).join('\n')}\n`,
});

beforeEach(() => emptyLedger(scene.ledger.pool));

function startWorker(at?: SignalAtPoint): Started {
  const { cwd, env } = scene.surroundings;
  return startVolley(['worker'], {
    cwd,
    env: { ...env, LOG_LEVEL: 'info', ...(at && { [signalVariable]: JSON.stringify(at) }) },
    nodeFlags: at ? ['--import', signalPreload] : [],
  });
}

async function stop(worker: Started): Promise<void> {
  worker.process.kill('SIGTERM');
  expect((await worker.ended).code).toBe(0);
}

async function query<Row extends object>(sql: string): Promise<Row[]> {
  return (await scene.ledger.pool.query<Row>(sql)).rows;
}

/** The log of a worker says why nothing comes. */
async function until<Result>(
  read: () => Promise<Result | undefined>,
  workers: readonly Started[],
): Promise<Result> {
  for (let left = 900; left > 0; left--) {
    const found = await read();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const { process } of workers) process.kill('SIGKILL');
  return expect.fail(workers.map(({ stderrSoFar }) => stderrSoFar()).join('\n'));
}

/** Sends the shares, and returns the run. */
async function runPart(written: string): Promise<string> {
  await scene.write('campaign.yaml', campaign(written));
  const { code, stdout, stderr } = await scene.command(['run', 'campaign.yaml', '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout).run;
}

type Sent = { readonly text: string; readonly messageId: string; readonly recipients: readonly string[] };

async function sent(): Promise<readonly Sent[]> {
  const rows = await query<{ text: string; messageId: string; recipients: string[] }>(`
    SELECT e.fields ->> 'Message' AS text, s.message_id AS "messageId", array_agg(s.address) AS recipients
    FROM recipient_states s JOIN envelopes e USING (run_id, envelope)
    WHERE s.request_state = 'accepted'
    GROUP BY 1, 2
  `);
  return rows;
}

/** So many recipients of the long text reply, and a tenth of that of the short one. */
async function reply(count: number): Promise<void> {
  const of = async (text: string, limit: number) =>
    (await sent())
      .filter((each) => each.text.includes(text))
      .flatMap(({ messageId, recipients }) => recipients.map((address) => ({ messageId, address })))
      .slice(0, limit);
  const replies = [...(await of('long', count)), ...(await of('short', count / 10))];
  expect(replies).toHaveLength(count + count / 10);
  const at = { account: 'sandbox', method: 'POST', contentType: 'application/json', headers: {} } as const;
  await receiveDeliveryReports(
    scene.ledger.pool,
    '00000000-0000-4000-8000-000000000001',
    replies.map(({ messageId, address }) => {
      const body = { Type: 'SMSReply', MessageID: messageId, Destination: address, Message: 'Thanks' };
      return { ...at, receivedAt: new Date(), body: Buffer.from(JSON.stringify(body)) };
    }),
  );
  expect((await scene.command(['delivery-reports', 'replay'])).code).toBe(0);
}

/** Waits until the rest is sent, and returns its run. */
function sentRest(run: string, ...workers: readonly Started[]): Promise<string> {
  return until(async () => {
    const [rest] = await query<{ run: string }>(
      `SELECT rest_run AS run FROM run_rests JOIN runs r ON r.run_id = rest_run
       WHERE run_rests.run_id = '${run}' AND r.state = 'completed'`,
    );
    return rest?.run;
  }, workers);
}

/** Every address that the service got, in the order of arrival. */
async function journalled(): Promise<readonly string[]> {
  return (await scene.journal()).flatMap(({ status, recipients }) => (status === 200 ? recipients : []));
}

/**
 * All people but the control group got one message, and the rest the text that won. Requests that a killed worker was
 * sending are in doubt, and may have arrived.
 */
async function expectSentOnce(run: string, rest: string, words: string): Promise<void> {
  const addresses = await journalled();
  expect(new Set(addresses).size).toBe(addresses.length);
  const [{ control } = { control: 0 }] = await query<{ control: number }>(
    `SELECT count(*)::integer AS control FROM rejected_contacts WHERE run_id = '${run}' AND kind = 'control_group'`,
  );
  expect(control).toBeGreaterThan(people / 20);
  const [{ doubted } = { doubted: 0 }] = await query<{ doubted: number }>(
    `SELECT count(*)::integer AS doubted FROM recipient_states WHERE request_state = 'in_doubt'`,
  );
  expect(addresses.length).toBeLessThanOrEqual(people - control);
  expect(addresses.length).toBeGreaterThanOrEqual(people - control - doubted);
  expect(
    await query(`SELECT DISTINCT e.fields ->> 'Message' AS text FROM envelopes e WHERE run_id = '${rest}'`),
  ).toEqual([{ text: expect.stringContaining(words) }]);
  expect(await query(`SELECT count(*)::integer AS runs FROM runs`)).toEqual([{ runs: 2 }]);
}

test('the variant with more replies wins, and a run of its own sends it to the rest once', async () => {
  const run = await runPart('{ by: replied, observe: 1h }');
  await reply(60);
  const worker = startWorker();
  const rest = await sentRest(run, worker);
  await stop(worker);
  await expectSentOnce(run, rest, 'the long text');
  expect(await query('SELECT run_id, kind, by_user, record FROM run_decisions')).toEqual([
    {
      run_id: run,
      kind: 'winner',
      by_user: null,
      record: expect.objectContaining({
        by: 'replied',
        alpha: 0.01,
        sends: 'long',
        variants: [
          expect.objectContaining({ name: 'short', events: 6 }),
          expect.objectContaining({ name: 'long', events: 60 }),
        ],
      }),
    },
  ]);
  expect(await query(`SELECT origin FROM run_origins WHERE run_id = '${rest}'`)).toEqual([{ origin: run }]);
  const { stdout } = await scene.command(['report', 'contacts', run, '--format', 'csv']);
  expect(stdout.split('\n')[0]).toContain('Volley Variant');
  expect(stdout).toContain('beyond_limit');
});

test('without a winner the first variant is sent when the time is over, and a person who opted out meanwhile gets nothing', async () => {
  const run = await runPart('{ by: optedOut, observe: 1s }');
  const got = new Set(await journalled());
  const waiting = (
    await query<{ line: number }>(`SELECT line FROM rejected_contacts WHERE run_id = '${run}'`)
  ).map(({ line }) => line);
  const optedOut = Array.from({ length: people }, (_, index) => index).find(
    (index) => !got.has(numberOf(index)) && !waiting.includes(index + 2),
  );
  const suppressed = await scene.command([
    'suppress',
    'add',
    numberOf(optedOut ?? 0),
    '--channel',
    'sms',
    '--reason',
    'asked',
  ]);
  expect(suppressed.code, suppressed.stderr).toBe(0);
  const worker = startWorker();
  const rest = await sentRest(run, worker);
  await stop(worker);
  const addresses = await journalled();
  expect(new Set(addresses).size).toBe(addresses.length);
  expect(addresses).not.toContain(numberOf(optedOut ?? 0));
  expect(
    await query(`SELECT DISTINCT fields ->> 'Message' AS text FROM envelopes WHERE run_id = '${rest}'`),
  ).toEqual([{ text: expect.stringContaining('the short text') }]);
  expect(await query('SELECT kind FROM run_decisions')).toEqual([{ kind: 'no winner' }]);
});

test('without a winner and with `otherwise: ask`, a person decides what the rest gets, once', async () => {
  const run = await runPart('{ by: replied, observe: 1s, otherwise: ask }');
  const worker = startWorker();
  await worker.waitForText('decided about the run');
  const waiting = await scene.command(['status', run]);
  expect(waiting.stdout).toContain('No variant is clearly better.');
  expect(waiting.stdout).toMatch(/│ short +│ +\d+ │/);
  const promote = (name: string) =>
    scene.command(['promote', run, '--variant', name, '--reason', 'it is shorter']);
  expect((await promote('control')).stderr).toContain(
    'It has no variant "control" that is sent; expected short, long.',
  );
  expect(await promote('long')).toMatchObject({ code: 0 });
  expect((await promote('short')).stderr).toContain('No part of it waits for a winner.');
  const rest = await sentRest(run, worker);
  await stop(worker);
  await expectSentOnce(run, rest, 'the long text');
  expect(await query('SELECT kind, by_user, reason FROM run_decisions ORDER BY decision')).toEqual([
    { kind: 'no winner', by_user: null, reason: null },
    { kind: 'winner', by_user: expect.stringContaining('tester'), reason: 'it is shorter' },
  ]);
  const { stdout } = await scene.command(['status', run]);
  expect(stdout).toContain('The rest gets "long".');
});

test('a rest that does not fit into the day waits as a whole, and is sent when the limit is raised', async () => {
  const limited = (most: number) =>
    scene.write('accounts.yaml', `${accountsYaml}    limits: { recipientsPerDay: ${most} }\n`);
  await limited(700);
  const run = await runPart('{ by: replied, observe: 1h }');
  await reply(60);
  const first = startWorker();
  const problem = await until(async () => {
    const [rest] = await query<{ problem: string }>(
      'SELECT problem FROM run_rests WHERE problem IS NOT NULL',
    );
    return rest?.problem;
  }, [first]);
  await stop(first);
  expect(problem).toMatch(
    /^account sandbox, limits\.recipientsPerDay: The rest has \d+ recipients, but only \d+ more fit into the 700 of the day\./,
  );
  expect(await query('SELECT run_id FROM runs')).toHaveLength(1);
  await limited(2_000);
  await query('UPDATE run_rests SET tried_at = NULL');
  const second = startWorker();
  const rest = await sentRest(run, second);
  await stop(second);
  await expectSentOnce(run, rest, 'the long text');
});

test.each(['winner decided', 'rest planned'])(
  'a worker that is killed when it is at "%s" leaves exactly one run of the rest to others',
  async (point) => {
    const run = await runPart('{ by: replied, observe: 1h }');
    await reply(60);
    const killed = startWorker({ signal: 'SIGKILL', point, occurrence: 1 });
    await killed.ended;
    const workers = [startWorker(), startWorker()];
    const rest = await sentRest(run, ...workers);
    for (const worker of workers) await stop(worker);
    await expectSentOnce(run, rest, 'the long text');
    expect(await query('SELECT kind FROM run_decisions')).toEqual([{ kind: 'winner' }]);
  },
);
