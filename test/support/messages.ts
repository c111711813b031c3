import fc from 'fast-check';
import type {
  Channel,
  Destination,
  Format,
  InterfaceName,
  MessageFields,
  SendRequest,
} from '../../src/domain/message.ts';
import { firstUnsupportedCharacter } from '../../src/wire/characters.ts';
import { type FieldDefinition, messageFields } from '../../src/wire/fields.ts';
import { wireInterfaces } from '../../src/wire/interfaces.ts';
import {
  destinationFieldsOf,
  keypadTones,
  supportsFiles,
  supportsKeypads,
} from '../../src/wire/message-parts.ts';
import type { Credentials, WireInterface } from '../../src/wire/wire-interface.ts';
import { anyCharacter } from './any-character.ts';
import { wav } from './wav.ts';

export const secret = 'secret-of-the-test';

export function credentialsFor(interfaceName: InterfaceName): Credentials {
  switch (interfaceName) {
    case 'rest-2.02':
      return { kind: 'authToken', authToken: secret };
    case 'rest-1.04':
    case 'rest-1.02':
      return { kind: 'apiKey', sender: 'user@example.com', apiKey: secret };
    case 'soap-tts':
      return { kind: 'senderToken', sender: 'user@example.com', token: secret };
  }
}

/** Each interface and format, with each of its channels. */
export const everyChannel: readonly (readonly [name: string, wire: WireInterface, channel: Channel])[] =
  wireInterfaces.flatMap((wire) =>
    wire.channels.map((channel): [string, WireInterface, Channel] => [
      `${wire.name} ${wire.format} ${channel}`,
      wire,
      channel,
    ]),
  );

/** An address that every interface returns unchanged. */
export function addressFor(channel: Channel): string {
  return channel === 'email' ? 'ana@example.com' : '+64211234567';
}

/** A message with required fields only. */
export function smallestMessage(interfaceName: InterfaceName, channel: Channel): SendRequest {
  const needed = messageFields(interfaceName, channel).find(({ required }) => required !== 'no');
  const fields = needed
    ? { [needed.name]: needed.type === 'audio' ? wav({ seconds: 0 }).toString('base64') : 'x' }
    : {};
  return {
    channel,
    messageId: 'M1',
    fields,
    destinations: [{ Recipient: addressFor(channel) }],
    files: [],
    keypads: [],
  };
}

export function carriableText(format: Format): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(
      ']]>',
      '<![CDATA[',
      '<!DOCTYPE html>',
      '<!doctype a [<!ENTITY b "c">]>',
      '<!--',
      '-->',
      '<?xml?>',
      '&#13;',
      '&amp;',
      '\r\n',
      '\r',
      '\n ',
      '\t',
      '"',
      "'",
      '<a/>',
      '--',
      '💸',
    ),
    fc.constantFrom('0012345', 'true', '1.0', '1e5', 'null', '__proto__', '', ' '),
  );
  return fc
    .array(piece, { maxLength: 4 })
    .map((pieces) => pieces.join(''))
    .filter((text) => firstUnsupportedCharacter(format, text) === undefined);
}

/** Values that every interface returns unchanged. */
function arbitraryValue(format: Format, { type, asText, range }: FieldDefinition): fc.Arbitrary<string> {
  switch (type) {
    case 'boolean':
      return fc.constantFrom('true', 'false');
    case 'integer':
      return fc.nat({ max: asText ? (range?.[1] ?? 99) : 999_999_999 }).map(String);
    case 'time':
      return fc
        .date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
        .map((date) => date.toISOString().slice(0, 16));
    case 'zone':
      return fc.constantFrom('Pacific/Auckland', 'Australia/Sydney', 'Etc/UTC', 'America/Mexico_City');
    case 'audio':
      return fc.base64String({ minLength: 4 });
    case 'text':
    case 'url':
      return carriableText(format);
  }
}

/** Any valid message: any subset of fields, with any values of their types. */
export function messages(wire: WireInterface, channel: Channel): fc.Arbitrary<SendRequest> {
  const { name, format } = wire;
  const text = carriableText(format);
  return fc.record(
    {
      channel: fc.constant(channel),
      messageId: fc.stringMatching(/^[0-9A-Za-z]{1,40}$/),
      fields: fieldsOf(wire, channel),
      destinations: fc.array(destinations(wire, channel), { minLength: 1, maxLength: 4 }),
      files: supportsFiles(name, channel)
        ? fc.array(fc.record({ Name: text, Data: fc.base64String() }), { maxLength: 2 })
        : fc.constant([]),
      keypads: supportsKeypads(name, channel)
        ? fc
            .subarray([...keypadTones])
            .chain((tones) =>
              fc.tuple(...tones.map((Tone) => text.map((RouteNumber) => ({ Tone, RouteNumber })))),
            )
        : fc.constant([]),
    },
    { requiredKeys: ['channel', 'messageId', 'fields', 'destinations', 'files', 'keypads'] },
  );
}

function fieldsOf({ name, format }: WireInterface, channel: Channel): fc.Arbitrary<MessageFields> {
  const pairs = messageFields(name, channel).map((definition) =>
    fc.tuple(fc.constant(definition.name), arbitraryValue(format, definition)),
  );
  return fc
    .subarray(pairs)
    .chain((some) => fc.tuple(...some))
    .map((chosen) => Object.fromEntries(chosen));
}

function destinations({ name, format }: WireInterface, channel: Channel): fc.Arbitrary<Destination> {
  const recipient = channel === 'email' ? fc.emailAddress() : fc.stringMatching(/^\+[1-9]\d{6,14}$/);
  // SOAP's phone list drops empty fields.
  const text = carriableText(format).filter((value) => name !== 'soap-tts' || value !== '');
  const others = destinationFieldsOf(name).filter((field) => field !== 'Recipient');
  return fc
    .tuple(
      recipient,
      fc
        .subarray(others)
        .chain((some) => fc.tuple(...some.map((field) => fc.tuple(fc.constant(field), text))))
        .map((chosen) => Object.fromEntries(chosen)),
    )
    .map(([Recipient, fields]) => ({ Recipient, ...fields }));
}
