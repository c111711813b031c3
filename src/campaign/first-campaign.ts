import type { Channel } from '../domain/message.ts';
import { guessColumns } from './guess-columns.ts';

/** The campaign that `volley init` writes. Only texts need nothing but a contact file. */
export const firstChannels = ['sms', 'email'] as const satisfies readonly Channel[];
export type FirstChannel = (typeof firstChannels)[number];

export type ContactSample = {
  readonly header: readonly string[];
  /** As many values as the header has columns. */
  readonly rows: readonly (readonly string[])[];
};

export type FirstCampaign = {
  readonly name: string;
  readonly account: string;
  readonly channel: FirstChannel;
  /** Relative to the campaign, or absolute. */
  readonly file: string;
  /** A column. */
  readonly recipient: string;
  readonly country: string | undefined;
  readonly header: readonly string[];
};

/** A phone number is reached faster than a mailbox. */
export function guessFirstChannel(header: readonly string[]): FirstChannel | undefined {
  return firstChannels.find((channel) => guessFirstRecipient(channel, header) !== undefined);
}

export function guessFirstRecipient(channel: FirstChannel, header: readonly string[]): string | undefined {
  return guessColumns('Recipient', channel, header)[0];
}

/** Counts phone numbers without a country code. */
export function countNationalNumbers({ header, rows }: ContactSample, column: string): number {
  const index = header.indexOf(column);
  const values = rows.map((row) => row[index]?.trim() ?? '');
  return values.filter((value) => value !== '' && !/^(?:tel:)?\s*(?:\+|00)/i.test(value)).length;
}

export function firstCampaignYaml(first: FirstCampaign): string {
  const { name, account, channel, file, recipient, country } = first;
  const lines = [
    '# yaml-language-server: $schema=./campaign.schema.json',
    '# A campaign: the account that sends it, its contacts and its message. `volley schema campaign --markdown` lists all keys.',
    `campaign: ${scalar(name)}`,
    `account: ${scalar(account)}`,
    `channel: ${channel}`,
    'contacts:',
    `  file: ${scalar(file)}`,
    ...(country === undefined ? [] : [`  country: ${scalar(country)} # of numbers without a country code`]),
    `  columns: { Recipient: ${scalar(recipient)} }`,
    'message:',
    ...messageLines(first),
    '  # Who pays, for `volley billing report`: a constant, or a column in [[ ]].',
    '  ChargeCode: FIRST',
  ];
  return `${lines.join('\n')}\n`;
}

function messageLines({ channel, header, recipient }: FirstCampaign): string[] {
  const named = findGreeting(channel, header, recipient);
  const explained =
    named === undefined
      ? []
      : [`  # [[${named.column}]] is a column of the contact file. "|" begins a text for empty ones.`];
  const greeting = named === undefined ? 'Hello' : `Hello ${named.text}`;
  if (channel === 'sms')
    return [...explained, `  Message: ${JSON.stringify(`${greeting}, this is our first message.`)}`];
  return [
    '  EmailSubject: "Our first message"',
    '  FromEmail: sender@example.com',
    ...explained,
    `  MessagePlain: ${JSON.stringify(`${greeting},\n\nthis is our first message.\n`)}`,
  ];
}

type Greeting = { readonly column: string; readonly text: string };

/** A line break would end the comment that names the column, and begin a key of the contact file's choice. */
const unprintable = /[[\]|\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** A column with names, otherwise any other column. */
function findGreeting(
  channel: FirstChannel,
  header: readonly string[],
  recipient: string,
): Greeting | undefined {
  const others = header.filter((column) => column !== recipient && !unprintable.test(column));
  const [name] = [
    ...guessColumns('First Name', channel, others),
    ...guessColumns('Attention', channel, others),
  ];
  if (name !== undefined) return { column: name, text: `[[${name}|there]]` };
  const [column] = others;
  return column === undefined ? undefined : { column, text: `[[${column}]]` };
}

const plain = /^(?:\.\.\/)*[A-Za-z_/][\w./-]*$/;
const reserved = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** JSON's quotes are YAML's too. */
function scalar(text: string): string {
  return plain.test(text) && !reserved.test(text) ? text : JSON.stringify(text);
}
