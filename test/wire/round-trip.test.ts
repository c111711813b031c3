import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, test } from 'vitest';
import { messageFields } from '../../src/wire/fields.ts';
import { decodeSendRequest } from '../../src/wire/interfaces.ts';
import type { EncodedSendRequest, ReceivedRequest } from '../../src/wire/wire-interface.ts';
import { credentialsFor, everyChannel, messages } from '../support/messages.ts';
import { outgoing } from '../support/outgoing.ts';

function received({ method, path, headers, body }: EncodedSendRequest): ReceivedRequest {
  const lowerCased = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    method,
    path: path || '/',
    query: '',
    headers: Object.fromEntries(lowerCased),
    body: Buffer.from(body),
  };
}

describe('encodeSendRequest and decodeSendRequest', () => {
  test.each(everyChannel)(
    "the service's side reads the same values that were encoded: %s",
    (_, wire, channel) => {
      const credentials = credentialsFor(wire.name);
      fc.assert(
        fc.property(messages(wire, channel), (request) => {
          const decoded = decodeSendRequest(received(wire.encodeSendRequest(outgoing(request), credentials)));
          expect(decoded).toEqual({
            kind: 'request',
            request,
            forbidden: expect.any(Array),
            interface: wire.name,
            version: wire.name === 'soap-tts' ? 'v1.04' : wire.name.replace('rest-', 'v'),
            format: wire.format,
            answer: { interface: wire.name, format: wire.format, channel },
            credentials,
          });
        }),
      );
    },
  );
});

describe('encodeSendRequest and another XML parser', () => {
  const inXml = everyChannel.filter(([, { format }]) => format === 'xml');

  test.each(inXml)('another XML parser reads the same values that were encoded: %s', (_, wire, channel) => {
    const definitions = messageFields(wire.name, channel);
    fc.assert(
      fc.property(messages(wire, channel), (request) => {
        const elements = elementsOf(
          wire.encodeSendRequest(outgoing(request), credentialsFor(wire.name)).body,
        );
        for (const { name, wireName, type } of definitions) {
          const value = request.fields[name];
          if (value !== undefined && type !== 'time' && type !== 'zone')
            expect(elements).toContainEqual([wireName, value]);
        }
        for (const { Name } of request.files) expect(elements).toContainEqual(['Name', Name]);
      }),
    );
  });
});

/** Every element with text or without content, by an independent parser. */
function elementsOf(xml: string): [string, string][] {
  const elements: [string, string][] = [];
  let text = '';
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', () => {
    text = '';
  });
  const add = (piece: string): void => {
    text += piece;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', ({ name }) => {
    elements.push([name, text]);
    text = '';
  });
  parser.write(xml).close();
  return elements;
}

describe('encodeSendRequest: deterministic bytes', () => {
  test.each(everyChannel)(
    'the same request has the same bytes, whatever the order of its fields: %s',
    (_, wire, channel) => {
      const credentials = credentialsFor(wire.name);
      const turned = <Value extends object>(object: Value): Value =>
        Object.fromEntries(Object.entries(object).reverse()) as Value;
      fc.assert(
        fc.property(messages(wire, channel), (request) => {
          const other = {
            ...request,
            fields: turned(request.fields),
          };
          const [one, two] = [request, other].map((message) =>
            wire.encodeSendRequest(outgoing(message), credentials),
          );
          expect(two).toEqual(one);
        }),
        { numRuns: 30 },
      );
    },
  );
});
