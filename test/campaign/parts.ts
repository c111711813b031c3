import { readCampaign } from '../../src/campaign/campaign.ts';
import { type Composition, compose } from '../../src/campaign/composition.ts';
import { createPersonaliser, type Personalised } from '../../src/campaign/personalise.ts';
import type { SendingAccount } from '../../src/campaign/sending-account.ts';
import type { Channel } from '../../src/domain/message.ts';

export const header = ['phone', 'email', 'first', 'last', 'company', 'city', 'state', 'note', 'STOP', 'n'];

export const current: SendingAccount = { interface: 'rest-2.02', format: 'json', loopback: false };
export const earlier: SendingAccount = { ...current, interface: 'rest-1.04' };

/** A valid test campaign, with changes. */
export type Parts = {
  readonly account?: SendingAccount;
  readonly channel?: Channel;
  readonly columns?: Record<string, string | { readonly value: string }>;
  readonly message: Record<string, unknown>;
  readonly files?: readonly Record<string, string>[];
};

/** JSON is YAML, with one key per line here, so that positions are known. */
export function yaml({ channel = 'sms', columns = {}, message, files = [] }: Parts): string {
  const lines = Object.entries(message).map(([field, value]) => `  ${field}: ${JSON.stringify(value)}`);
  return [
    'campaign: test',
    'account: main',
    `channel: ${channel}`,
    'contacts:',
    '  file: contacts.csv',
    `  columns: ${JSON.stringify({ Recipient: 'phone', ...columns })}`,
    'message:',
    ...lines,
    `files: ${JSON.stringify(files)}`,
  ].join('\n');
}

export function composed(parts: Parts): Composition {
  return compose(readCampaign(yaml(parts), 'c.yaml'), parts.account ?? current, header);
}

export function personalised(parts: Parts, values: Record<string, string>): Personalised {
  return createPersonaliser(composed(parts))((column) => values[column] ?? '');
}
