import { expect, test } from 'vitest';
import type { MessageFields } from '../../src/domain/message.ts';
import { requireSummary } from '../../src/engine/runs/find-run.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { startReceiver } from '../../src/server/receiver.ts';
import { accountAt, execute } from '../support/execute.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../support/ledger.ts';
import { credentialsFor } from '../support/messages.ts';
import { environment, inboxOf, receiverOptions, token } from '../support/receiver.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();

type Scene = {
  readonly name: 'soap-tts' | 'rest-1.04';
  readonly channel: 'tts' | 'sms';
  readonly fields: MessageFields;
  /** The receiver keys of the account, in YAML. */
  readonly receiver?: string;
  readonly webhook?: Partial<SandboxOptions['webhook']>;
};

/** Returns the counts of a run after all delivery reports. */
async function reportedRun({ name, channel, fields, receiver = '', webhook = {} }: Scene) {
  const hook = await startReceiver(opened.context, receiverOptions(opened, { sandbox: receiver }));
  const url = `${hook.url}/webhook/sandbox/${token}`;
  const sandbox = await startSandbox({
    webhook: { url, ...webhook },
    webhookRetry: 3_600_000,
    // A delivery report before its answer is recorded would be applied only after a minute.
    deliveryDelay: 1_000,
  });
  const contacts = [2, 3, 4].map((line) => aContact(line, { envelope: anEnvelope(fields) }));
  const run = await planContacts(opened.ledger, aRun({ channel, chunkSize: 3 }), contacts);
  const account = accountAt(sandbox.url, {
    interface: name,
    format: 'xml',
    credentials: credentialsFor(name),
  });
  const before = (await inboxOf(opened)).length;
  await execute(opened.context, run, account);
  return {
    run,
    reports: async () => (await inboxOf(opened)).slice(before).map(({ body }) => JSON.parse(String(body))),
    outstanding: sandbox.outstandingDeliveryReports,
    recipients: async () => (await requireSummary(opened.context, run)).recipients,
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await hook.close();
    },
  };
}

const call = { name: 'soap-tts', channel: 'tts', fields: { MessageToPeople: 'Hello' } } as const;
const text = { name: 'rest-1.04', channel: 'sms', fields: { Message: 'Hello' } } as const;

test('delivery reports under the job number of the answer are applied', async () => {
  await using scene = await reportedRun({ ...call, webhook: { id: 'job' } });
  await expect.poll(scene.outstanding).toBe(0);
  const { rows } = await opened.ledger.pool.query(
    'SELECT job_number, account FROM job_numbers WHERE run_id = $1',
    [scene.run],
  );
  expect(rows).toEqual([{ job_number: expect.stringMatching(/^[0-9A-F]{8}$/), account: 'sandbox' }]);
  expect(await scene.reports()).toMatchObject(Array(3).fill({ MessageID: rows[0].job_number }));
  await expect.poll(scene.recipients).toMatchObject({ total: 3, accepted: 0, delivered: 3 });
});

test("a receiver that requires the account's credentials accepts delivery reports that contain them", async () => {
  const credentials = { sender: 'volley@example.com', apiKey: environment.KEY };
  await using scene = await reportedRun({
    ...text,
    receiver: '{ credentials: required }',
    webhook: { credentials },
  });
  await expect.poll(scene.recipients).toMatchObject({ delivered: 3 });
});

test.each([
  ['shows none', {}],
  ['shows others', { credentials: { sender: 'volley@example.com', apiKey: 'another key' } }],
] as const)('a receiver refuses all delivery reports of a service that %s', async (_, webhook) => {
  await using scene = await reportedRun({ ...text, receiver: '{ credentials: required }', webhook });
  await expect.poll(scene.outstanding).toBe(3);
  expect(await scene.reports()).toEqual([]);
  expect(await scene.recipients()).toMatchObject({ accepted: 3, delivered: 0 });
});
