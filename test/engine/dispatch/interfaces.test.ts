import { describe, expect, test } from 'vitest';
import type { Contact } from '../../../src/domain/contacts.ts';
import type { Channel, Format, InterfaceName } from '../../../src/domain/message.ts';
import { executeRun } from '../../../src/engine/runs/execute-run.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import type { Account } from '../../../src/gateway/account.ts';
import type { PlannedRun } from '../../../src/ledger/planning/planned-run.ts';
import { textPeer } from '../../gateway/test-peers.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { credentialsFor } from '../../support/messages.ts';
import { testLedger } from '../../support/test-ledger.ts';

/** Runs through interfaces other than REST 2.02 in JSON. */

const opened = testLedger();

function accountFor(name: InterfaceName, format: Format, baseUrl: string): Account {
  return {
    name: 'sandbox',
    interface: name,
    format,
    baseUrl,
    credentials: credentialsFor(name),
    timeouts: { connect: 1_000, headers: 2_000, body: 2_000 },
    concurrency: 1,
    requestsPerSecond: null,
    recipientsPerSecond: null,
    confirmAboveRecipients: 10_000,
    statusLookUp: false,
    bringsReports: true,
    rates: [],
    ratesTimeZone: 'UTC',
    suppressionsOf: 'sandbox',
  };
}

async function dispatch(run: string, account: Account): Promise<void> {
  const events = { onStart: () => {}, onProgress: () => {}, onDown: () => {}, onUp: () => {} };
  await executeRun(opened.context, run, {
    accountNamed: async () => account,
    stop: new AbortController().signal,
    events,
  });
}

type Answer = { readonly status: number; readonly body: string };

/** Plans and dispatches a run of one contact. */
async function send(
  name: InterfaceName,
  format: Format,
  channel: Channel,
  {
    contact,
    answers,
    changes = {},
  }: {
    readonly contact: Contact;
    readonly answers: readonly Answer[];
    readonly changes?: Partial<PlannedRun>;
  },
) {
  const bodies: string[] = [];
  const urls: (string | undefined)[] = [];
  await using peer = await textPeer((body, response, { url }) => {
    const answer = answers[bodies.length] ?? answers.at(-1);
    bodies.push(body);
    urls.push(url);
    response.statusCode = answer?.status ?? 200;
    response.end(answer?.body);
  });
  const run = await planContacts(opened.ledger, aRun({ channel, ...changes }), [contact]);
  await dispatch(run, accountFor(name, format, `${peer.url}/base/`));
  const { requests } = await requireSummary(opened.context, run);
  const { rows } = await opened.ledger.pool.query<{ detail: string | null }>(
    'SELECT detail FROM all_attempts WHERE run_id = $1 ORDER BY request, attempt',
    [run],
  );
  return { bodies, urls, requests, details: rows.map(({ detail }) => detail) };
}

const call = aContact(2, {
  envelope: anEnvelope(
    { MessageToPeople: 'Hello' },
    { keypads: [{ Tone: '3', RouteNumber: '+6493090000' }] },
  ),
});

function soap(body: string): string {
  return `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;
}

describe('executeRun with an answer that has a job number instead of the MessageID', () => {
  test('an answer with a job number accepts the request in an earlier version', async () => {
    const { requests, details } = await send('rest-1.04', 'json', 'tts', {
      contact: call,
      answers: [{ status: 200, body: 'Job 12AB34CD' }],
    });
    expect(requests).toMatchObject({ total: 1, accepted: 1 });
    expect(details).toEqual([{ kind: 'job_number', jobNumber: '12AB34CD' }]);
  });

  test('an answer with a job number accepts the request in SOAP, at the base URL itself', async () => {
    const body = soap('<ttsResponse><ttsReturn>Job 12AB34CE</ttsReturn></ttsResponse>');
    const { requests, details, urls } = await send('soap-tts', 'xml', 'tts', {
      contact: call,
      answers: [{ status: 200, body }],
    });
    expect(requests).toMatchObject({ total: 1, accepted: 1 });
    expect(details).toEqual([{ kind: 'job_number', jobNumber: '12AB34CE' }]);
    expect(urls).toEqual(['/base/']);
  });
});

describe('executeRun with a SOAP fault', () => {
  const fault = (code: string): string =>
    soap(
      `<s:Fault><faultcode>s:${code}</faultcode><faultstring>Missing message to people</faultstring></s:Fault>`,
    );

  test("a SOAP fault of the client rejects the request with the service's words", async () => {
    const { requests, details } = await send('soap-tts', 'xml', 'tts', {
      contact: call,
      answers: [{ status: 500, body: fault('Client') }],
    });
    expect(requests).toMatchObject({ total: 1, rejected: 1 });
    expect(details).toEqual(['Missing message to people']);
  });

  test('a SOAP fault of the server leaves the request in doubt, and it is not sent again', async () => {
    const { requests, bodies } = await send('soap-tts', 'xml', 'tts', {
      contact: call,
      answers: [{ status: 500, body: fault('Server') }],
    });
    expect(requests).toMatchObject({ total: 1, in_doubt: 1 });
    expect(bodies).toHaveLength(1);
  });
});

describe('executeRun with files', () => {
  const envelope = anEnvelope({ Reference: 'r' }, { audio: { MessageToPeople: 'audio/hello.wav' } });
  const voice = aContact(2, { envelope });

  test('every attempt carries the files as they were when the run was planned', async () => {
    let content = 'as it was planned';
    const readFile = async (): Promise<Buffer> => {
      const read = Buffer.from(content);
      content = 'as it is now';
      return read;
    };
    const answers = [
      { status: 503, body: '' },
      { status: 200, body: 'Job 1' },
    ];
    const { bodies, requests } = await send('rest-1.02', 'xml', 'voice', {
      contact: voice,
      answers,
      changes: {
        files: { kind: 'read', readFile },
      },
    });
    expect(requests).toMatchObject({ accepted: 1 });
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toBe(bodies[0]);
    const base64 = Buffer.from('as it was planned').toString('base64');
    expect(bodies[0]).toContain(`<MessageToPeople>${base64}</MessageToPeople>`);
  });

  test('a file that is missing from the ledger fails the request before anything is sent', async () => {
    const run = aRun({ channel: 'voice' });
    await planContacts(opened.ledger, run, [voice]);
    await opened.ledger.knex('run_files').where({ run_id: run.run }).delete();
    let calls = 0;
    await using peer = await textPeer((_body, response) => {
      calls++;
      response.end();
    });
    await dispatch(run.run, accountFor('rest-1.02', 'json', peer.url));
    expect(calls).toBe(0);
    expect((await requireSummary(opened.context, run.run)).requests).toMatchObject({ failed: 1 });
  });

  test('a file that the ledger cannot read leaves the request planned, and nothing is sent', async () => {
    const run = aRun({ channel: 'voice' });
    await planContacts(opened.ledger, run, [voice]);
    let calls = 0;
    await using peer = await textPeer((_body, response) => {
      calls++;
      response.end('Job 2');
    });
    const account = accountFor('rest-1.02', 'json', peer.url);

    await opened.ledger.knex.raw('ALTER TABLE run_files RENAME TO run_files_away');
    await expect(dispatch(run.run, account)).rejects.toThrow(/run_files/);
    await opened.ledger.knex.raw('ALTER TABLE run_files_away RENAME TO run_files');
    expect(calls).toBe(0);
    expect((await requireSummary(opened.context, run.run)).requests).toMatchObject({
      planned: 1,
      sending: 0,
    });

    await dispatch(run.run, account);
    expect(calls).toBe(1);
    expect((await requireSummary(opened.context, run.run)).requests).toMatchObject({ accepted: 1 });
  });
});
