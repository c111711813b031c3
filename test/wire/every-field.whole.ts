import { randomUUID } from 'node:crypto';
import { rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Destination, DestinationField, SendRequest } from '../../src/domain/message.ts';
import { openGateway } from '../../src/gateway/gateway.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type FieldDefinition, messageFields } from '../../src/wire/fields.ts';
import { destinationFieldsOf, supportsFiles, supportsKeypads } from '../../src/wire/message-parts.ts';
import type { WireInterface } from '../../src/wire/wire-interface.ts';
import { anAccount } from '../support/account.ts';
import { readJournal } from '../support/journal.ts';
import { credentialsFor, everyChannel, smallestMessage } from '../support/messages.ts';
import { outgoing } from '../support/outgoing.ts';

/** Sends every field of every interface and format over HTTP, and reads it from the sandbox's journal. */

let journal: string;
let sandbox: Sandbox;
let sent = 0;

beforeAll(async () => {
  journal = join(tmpdir(), `volley-every-field-${randomUUID()}.jsonl`);
  sandbox = await startSandbox({ journal });
});
// Reading a growing journal again and again is slow.
afterEach(() => truncate(journal));
afterAll(async () => {
  await sandbox.close();
  await rm(journal);
});

/** Returns the journal line of each message. */
async function arrived(
  wire: WireInterface,
  requests: readonly SendRequest[],
  newMessageId = () => `M${++sent}`,
) {
  const gateway = openGateway(
    anAccount({
      interface: wire.name,
      format: wire.format,
      baseUrl: sandbox.url,
      credentials: credentialsFor(wire.name),
      timeouts: { connect: 5000, headers: 20_000, body: 20_000 },
    }),
  );
  const numbered = requests.map((request) => ({ ...request, messageId: newMessageId() }));
  for (const request of numbered) {
    expect(await gateway.send(outgoing(request))).toMatchObject({ kind: 'answer' });
  }
  await gateway.close();
  const lines = await readJournal(journal);
  return numbered.map(({ messageId }) => {
    const line = lines.find((candidate) => candidate.messageId === messageId);
    expect(line).toMatchObject({ interface: wire.name, format: wire.format });
    return line;
  });
}

/** All characters that have ever been misread. */
const hostileInOneLine =
  ' 0012345 true 1.0 null ]]> <![CDATA[x]]> <a b="c">&amp;&#13;&lt;</a> "\' \\ \\u0041 %s ${x} é 中文 💸 \u2028 \t ';
const hostile = `${hostileInOneLine}\r\n\n\r end\n`;

const longText = 'ab<é💸'.repeat(2_000);

/** The longest and the most hostile values of a field. */
function extremes({ type, limit, range, multiline, values }: FieldDefinition): readonly string[] {
  switch (type) {
    case 'boolean':
      return ['true', 'false'];
    case 'integer':
      return [String(range?.[0] ?? 0), String(range?.[1] ?? 999_999_999)];
    case 'time':
      return ['2026-11-21T18:30', '2028-02-29T23:59'];
    case 'zone':
      return ['Pacific/Auckland', 'Australia/Sydney'];
    case 'audio':
      return [Buffer.alloc(300_000, 7).toString('base64')];
    case 'text':
    case 'url':
      return [
        limit === undefined ? longText : longText.slice(0, limit),
        multiline ? hostile : hostileInOneLine,
        ...(values ?? []),
      ];
  }
}

const textual: readonly FieldDefinition['type'][] = ['text', 'url', 'audio'];

const everyField = everyChannel.flatMap(([name, wire, channel]) =>
  messageFields(wire.name, channel).map((field) => [`${name} ${field.name}`, wire, channel, field] as const),
);

describe('fields, from the gateway to the sandbox', () => {
  test.each(everyField)('%s arrives unchanged', async (_, wire, channel, field) => {
    const smallest = smallestMessage(wire.name, channel);
    const { [field.name]: _ignored, ...absent } = smallest.fields;
    const empty = textual.includes(field.type) ? [''] : [];
    const values = [...empty, ...extremes(field)];

    const [withoutIt, ...lines] = await arrived(wire, [
      { ...smallest, fields: absent },
      ...values.map((value) => ({ ...smallest, fields: { ...absent, [field.name]: value } })),
    ]);
    expect(withoutIt?.message?.fields).toEqual(absent);
    expect(lines.map((line) => line?.message?.fields[field.name])).toEqual(values);
  });
});

const everyDestinationField = everyChannel.flatMap(([name, wire, channel]) =>
  destinationFieldsOf(wire.name)
    .filter((field) => field !== 'Recipient')
    .map((field) => [`${name} ${field}`, wire, channel, field] as const),
);

describe('destination fields, from the gateway to the sandbox', () => {
  test.each(everyDestinationField)(
    '%s arrives unchanged',
    async (_, wire, channel, field: DestinationField) => {
      const smallest = smallestMessage(wire.name, channel);
      const [first] = smallest.destinations;
      // In SOAP's phone list, empty and absent fields are equal.
      const empty = wire.name === 'soap-tts' ? [] : [''];
      const values = [...empty, longText, hostile];
      const destinations = values.map((value): Destination => ({ Recipient: '', ...first, [field]: value }));
      const [line] = await arrived(wire, [
        { ...smallest, destinations: [...destinations, ...smallest.destinations] },
      ]);
      expect(line?.message?.destinations).toEqual([...values.map((value) => ({ [field]: value })), {}]);
      expect(line?.recipients).toEqual([...destinations, first].map((destination) => destination?.Recipient));
    },
  );
});

describe('other parts of a request, from the gateway to the sandbox', () => {
  const withFiles = everyChannel.filter(([, wire, channel]) => supportsFiles(wire.name, channel));
  const withKeypads = everyChannel.filter(([, wire, channel]) => supportsKeypads(wire.name, channel));

  test.each(everyChannel)('the longest MessageID arrives unchanged: %s', async (_, wire, channel) => {
    const smallest = smallestMessage(wire.name, channel);
    const [line] = await arrived(wire, [smallest], () => 'Zz0123456789'.padEnd(40, 'x'));
    expect(line).toMatchObject({ messageId: 'Zz0123456789'.padEnd(40, 'x'), status: 200 });
  });

  test.each(withFiles)('files arrive with name and size: %s', async (_, wire, channel) => {
    const names = ['a.pdf', '', hostileInOneLine, longText];
    const files = names.map((Name, index) => ({
      Name,
      Data: Buffer.alloc(index * 100_000, index).toString('base64'),
    }));
    const [line] = await arrived(wire, [{ ...smallestMessage(wire.name, channel), files }]);
    expect(line?.message?.files).toEqual(names.map((name, index) => ({ name, bytes: index * 100_000 })));
  });

  test.each(withKeypads)('all nine keypads arrive unchanged: %s', async (_, wire, channel) => {
    const numbers = ['', '0', '0012345', '+64211234567', hostileInOneLine, longText, 'true', '1.0', '"'];
    const keypads = numbers.map((RouteNumber, index) => ({ Tone: String(index + 1), RouteNumber }));
    const [line] = await arrived(wire, [{ ...smallestMessage(wire.name, channel), keypads }]);
    expect(line?.message?.keypads).toEqual(keypads);
  });
});
