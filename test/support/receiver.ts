import { createReportStore } from '../../src/engine/delivery-reports/report-store.ts';
import { openAccounts } from '../../src/gateway/accounts-file.ts';
import type { ReceiverAccount } from '../../src/gateway/receiver-settings.ts';
import { openLogger } from '../../src/platform/logger.ts';
import type { ReceiverOptions } from '../../src/server/receiver.ts';
import type { TestLedger } from './ledger.ts';

/** The token of account `main`. */
export const token = 'a-token-of-at-least-22-characters';

export const environment = {
  HOOK: token,
  PASSWORD: 'pass word: ü',
  KEY: 'key-of-the-service',
  SIGNATURE: `whsec_${Buffer.from('a key of exactly 32 bytes, so 32').toString('base64')}`,
};

/** Accounts of rest-1.04 with token `${HOOK}`, and these YAML settings of their receivers. */
export function receiverAccountsOf(
  receivers: Readonly<Record<string, string>>,
): Map<string, ReceiverAccount> {
  const accounts = Object.entries(receivers).map(
    ([name, receiver]) => `  ${JSON.stringify(name)}:
    interface: rest-1.04
    baseUrl: https://service.example
    sender: volley@example.com
    apiKey: \${KEY}
    webhookToken: \${HOOK}
${receiver === '' ? '' : `    receiver: ${receiver}\n`}`,
  );
  const source = `accounts:\n${accounts.join('')}`;
  return new Map(openAccounts(source, 'accounts.yaml').readReceivers(environment));
}

/** Options of a receiver on a free port. */
export function receiverOptions(
  { context }: TestLedger,
  receivers: Readonly<Record<string, string>> = { main: '' },
): ReceiverOptions {
  return {
    host: '127.0.0.1',
    port: 0,
    accounts: receiverAccountsOf(receivers),
    store: createReportStore(context),
    logger: openLogger('silent', 'info'),
  };
}

export async function emptyInbox({ ledger }: TestLedger): Promise<void> {
  const tables = ['inbox_waiting', 'unusual_delivery_reports', 'inbox_blocks', 'signed_calls'];
  await ledger.pool.query(tables.map((table) => `DELETE FROM ${table}`).join('; '));
}

/** In order of arrival. */
export async function inboxOf({ ledger }: TestLedger): Promise<readonly InboxRow[]> {
  const { rows } = await ledger.pool.query<InboxRow>(
    'SELECT account, content_type, headers, body FROM inbox_calls ORDER BY report_id',
  );
  return rows;
}

type InboxRow = {
  readonly account: string;
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};
