import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { EngineContext } from '../../src/engine/context.ts';
import { applyInbox } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { planRun } from '../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../src/engine/plan/prepare-campaign.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import type { PurgeLimit } from '../../src/ledger/purge/candidates.ts';
import { markBegun, markCompleted, markPaused } from '../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import { addSuppressions } from '../../src/ledger/suppressions/add.ts';
import { createHashKey } from '../../src/ledger/suppressions/hash.ts';
import { removeSuppressions } from '../../src/ledger/suppressions/remove.ts';
import { claimRequests, settleRequests } from './claims.ts';
import { foldAll } from './fold-outcomes.ts';
import type { TestLedger } from './ledger.ts';
import { accountsYaml, makeWorkspace } from './workspace.ts';

export const secret = '0123456789abcdef0123456789abcdef';
export const hashKey = createHashKey(Buffer.from(secret));

export const longAgo = new Date('2025-01-02T03:04:05Z');
export const limit: PurgeLimit = { before: new Date('2025-02-01T00:00:00Z'), alsoInDoubt: false };

/** Adds the hash key. */
export function withKey({ context }: TestLedger): EngineContext {
  return { ...context, ledger: { ...context.ledger, hashKey } };
}

/** Texts that a purge must erase: from contacts, messages, files and the service's words. */
export const plantedTexts = [
  '0412345671',
  '412345671',
  '412345672',
  '412345673',
  '412345674',
  '412345679',
  'zebedee',
  'xanthippe',
  'quagmire',
  'plumbago',
  'reply-of-a-person',
  'reason-of-a-person',
  'ann@private.example',
  'reference-77',
  'not-a-number',
  '412345678',
  'tick-of-zebedee',
];

export const oldContacts = [
  'mobile,name,ref',
  '0412345671,Zebedee,reference-77',
  '0412 345 672,Xanthippe,r',
  '0412345673,Carl,r',
  'not-a-number,Dora,r',
  '0412345671,Zebedee,r',
  '0412345674,Eve,r',
  '',
].join('\n');
export const oldCampaign = `campaign: reminder
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: mobile } }
message: { Message: "Dear [[name]], quagmire [[ref]]", SubAccount: North, ChargeCode: C1, Reference: "plumbago [[ref]]" }
`;

/** Adds a suppression, a removed suppression and a failed tick. */
async function addOldRows(pool: pg.Pool): Promise<void> {
  await addSuppressions(pool, [
    {
      channel: 'sms',
      address: '+61412345674',
      subAccount: '',
      source: 'reply',
      createdAt: longAgo,
      reason: 'reply-of-a-person',
    },
  ]);
  const removed = { channel: 'sms', address: '+61412345678', subAccount: '' } as const;
  const others = { reason: '', source: 'operator', createdAt: longAgo } as const;
  await addSuppressions(pool, [{ ...removed, ...others }]);
  await removeSuppressions(pool, [removed], longAgo, hashKey);
  await pool.query(`
    INSERT INTO schedules (schedule, campaign, times, active, recorded_until)
    VALUES ('a.yaml', 'reminder', '{}', true, '2025-01-02')
    ON CONFLICT DO NOTHING;
    INSERT INTO ticks (schedule, due_at, state, reason)
    VALUES ('a.yaml', '2025-01-02', 'failed', '"contacts.csv:4: tick-of-zebedee"')
    ON CONFLICT DO NOTHING;
  `);
}

/**
 * Plans a run that was sent and reported on long ago. Its outcomes are folded. It has personal messages, rejected contacts, a rejected
 * request that quotes a contact, a reply, an unmatched delivery report and a suppression.
 */
export async function planOldRun(opened: TestLedger, chunkSize = 1): Promise<string> {
  const { pool } = opened.ledger;
  await using workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'contacts.csv': oldContacts,
    'campaign.yaml': `${oldCampaign}dispatch: { chunkSize: ${chunkSize} }\n`,
  });
  await addOldRows(pool);
  const settings = {
    workingFolder: workspace.folder,
    environment: {
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
      VOLLEY_SANDBOX_TOKEN: 'x',
    },
  };
  const context = { ...withKey(opened), now: () => longAgo };
  const run = await planRun(context, await prepareCampaign('campaign.yaml', settings, { keeps: 'files' }));
  const { claimed } = await claimRequests(pool, { run, owner, limit: 10, now: longAgo });
  const outcome = { attempt: 1, finishedAt: longAgo };
  await settleRequests(
    pool,
    run,
    owner,
    claimed.map(({ request }) =>
      request === 3
        ? {
            ...outcome,
            request,
            state: 'rejected',
            httpStatus: 400,
            detail: 'Bad number +61412345673 for Zebedee',
          }
        : { ...outcome, request, state: 'accepted', httpStatus: 200, detail: 'Xanthippe' },
    ),
  );
  const [first, second] = claimed;
  await receiveOldReports(opened, [
    delivered(first?.messageId ?? '', '+61412345671'),
    delivered(second?.messageId ?? '', '+61412345672'),
    {
      Type: 'SMSReply',
      MessageID: first?.messageId,
      Destination: '+61412345671',
      Message: 'reply-of-a-person',
    },
    delivered('Unknown1', '+61412345679'),
    { Type: 'Email', Destination: 'ann@private.example' },
  ]);
  // Unmatched delivery reports are not read again.
  await pool.query('DELETE FROM inbox_waiting');
  await inTransaction(pool, (client) => markPaused(client, run, 'Bad number of reason-of-a-person'));
  await completeRun(pool, run);
  await foldAll(pool);
  return run;
}

const owner = '00000000-0000-4000-8000-000000000001';

/** Completes a run as its last slice would. */
export async function completeRun(pool: pg.Pool, run: string): Promise<void> {
  await pool.query(
    `UPDATE slices SET state = 'done', job = NULL, worker = NULL, owner = NULL WHERE run_id = $1`,
    [run],
  );
  await inTransaction(pool, async (client) => {
    await markBegun(client, run);
    await markCompleted(client, run, longAgo);
  });
}

function delivered(messageId: string, address: string) {
  return {
    Type: 'SMS',
    MessageID: messageId,
    Destination: address,
    Status: 'Success',
    Result: 'delivered to Zebedee',
    Price: '0.05',
    Detail: 'SMSParts:1',
  };
}

/** Receives and applies delivery reports. */
export async function receiveOldReports(
  { context, ledger }: TestLedger,
  bodies: readonly Readonly<Record<string, string | undefined>>[],
): Promise<void> {
  await receiveDeliveryReports(
    ledger.pool,
    randomUUID(),
    bodies.map((body) => ({
      account: 'sandbox',
      receivedAt: longAgo,
      method: 'POST',
      contentType: 'application/json',
      headers: { 'x-caller': 'ann@private.example' },
      body: Buffer.from(JSON.stringify(body)),
    })),
  );
  await applyInbox({ ...context, now: () => longAgo });
}

/** Dumps all rows of all tables except system tables as text, with bytes decoded. */
export async function dumpOf(pool: pg.Pool): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(`
    SELECT format('%I.%I', n.nspname, c.relname) AS name
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    ORDER BY 1
  `);
  const parts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
    parts.push(name, ...rows.map(({ row }) => row));
  }
  const text = parts.join('\n');
  const bytes = [...text.matchAll(/\\x([0-9a-f]{2,})/g)].map(([, hex = '']) =>
    Buffer.from(hex, 'hex').toString('latin1'),
  );
  return [text, ...bytes].join('\n').toLowerCase();
}

export function findTexts(dump: string, texts: readonly string[] = plantedTexts): string[] {
  return texts.filter((text) => dump.includes(text));
}
