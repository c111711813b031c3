import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Destination } from '../../../src/domain/message.ts';
import { wireInterface } from '../../../src/wire/interfaces.ts';
import type { EncodedSendRequest } from '../../../src/wire/wire-interface.ts';
import { outgoing } from '../../support/outgoing.ts';

/** What every peer sends. Only MessageIDs differ, and they have equal length. */
export type Workload = { readonly requests: number; readonly recipients: number };

/** Requests in flight. */
export const concurrency = 64;

export const token = 'token-of-the-bench';
const text = 'Hi [[First Name]], power is off in your street tonight from 22:00 to 04:00. [[STOP]]';

/** @returns the path of the campaign */
export async function writeCampaign(folder: string, workload: Workload, baseUrl: string): Promise<string> {
  await pipeline(contactLines(workload), createWriteStream(join(folder, 'contacts.csv')));
  await writeFile(
    join(folder, 'accounts.yaml'),
    `accounts:
  bench:
    interface: rest-2.02
    baseUrl: ${baseUrl}
    authToken: \${BENCH_TOKEN}
    limits: { concurrency: ${concurrency} }
`,
  );
  const campaign = join(folder, 'campaign.yaml');
  await writeFile(
    campaign,
    `campaign: bench
account: bench
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: mobile, First Name: first_name } }
message:
  Reference: bench
  Message: "${text}"
dispatch: { chunkSize: ${workload.recipients}, concurrency: ${concurrency} }
`,
  );
  return campaign;
}

/** In pieces: ten million lines are more than a string can hold. */
function* contactLines({ requests, recipients }: Workload): Generator<string> {
  let piece = 'mobile,first_name\n';
  for (let row = 0; row < requests * recipients; row++) {
    piece += `${mobileOf(row)},${firstNameOf(row)}\n`;
    if (piece.length < 65_536) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** A request before it is a body. */
export type Message = { readonly messageId: string; readonly destinations: readonly Destination[] };

/** The same requests as Volley's, before encoding. */
export function messagesOf({ requests, recipients }: Workload): Message[] {
  return Array.from({ length: requests }, (_, request) => ({
    messageId: String(request).padStart(36, '0'),
    destinations: Array.from({ length: recipients }, (_, index): Destination => {
      const row = request * recipients + index;
      return { Recipient: mobileOf(row), 'First Name': firstNameOf(row) };
    }),
  }));
}

/** The same requests as Volley's, encoded. */
export function encodeRequests(workload: Workload): EncodedSendRequest[] {
  const wire = wireInterface('rest-2.02', 'json');
  return messagesOf(workload).map((message) =>
    wire.encodeSendRequest(
      outgoing({
        channel: 'sms',
        ...message,
        fields: { Reference: 'bench', Message: text },
        files: [],
        keypads: [],
      }),
      { kind: 'authToken', authToken: token },
    ),
  );
}

/** The bytes of `encodeRequests`, written by hand. */
export function writeRequest({ messageId, destinations }: Message): EncodedSendRequest {
  const MessageData = {
    MessageID: messageId,
    Reference: 'bench',
    Message: text,
    Destinations: destinations,
  };
  const mediaType = "application/json; encoding='utf-8'";
  return {
    method: 'POST',
    path: '/api/v2.02/send/sms',
    headers: { 'Content-Type': mediaType, Accept: mediaType, Authorization: `Basic ${token}` },
    body: JSON.stringify({ MessageData }),
  };
}

function mobileOf(row: number): string {
  return `+614${String(row).padStart(8, '0')}`;
}

function firstNameOf(row: number): string {
  return `Ann${row % 997}`;
}
