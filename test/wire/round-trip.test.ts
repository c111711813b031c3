import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeSendRequest } from '../../src/wire/service.ts';
import type { EncodedSendRequest, ReceivedRequest } from '../../src/wire/wire.ts';
import { credentialsFor, everyChannel, messages } from '../support/messages.ts';

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

describe('what one side encodes the other decodes to the same values', () => {
  test.each(everyChannel)('%s', (_, wire, channel) => {
    const credentials = credentialsFor(wire.name);
    fc.assert(
      fc.property(messages(wire, channel), (request) => {
        const decoded = decodeSendRequest(received(wire.encodeSendRequest(request, credentials)));
        expect(decoded).toEqual({
          kind: 'request',
          request,
          interface: wire.name,
          format: wire.format,
          answer: { interface: wire.name, format: wire.format, channel },
          credentials,
        });
      }),
    );
  });
});

describe('the same request is the same bytes, whatever the order of its fields', () => {
  test.each(everyChannel)('%s', (_, wire, channel) => {
    const credentials = credentialsFor(wire.name);
    const turned = <Value extends object>(object: Value): Value =>
      Object.fromEntries(Object.entries(object).reverse()) as Value;
    fc.assert(
      fc.property(messages(wire, channel), (request) => {
        const other = {
          ...request,
          fields: turned(request.fields),
        };
        const [one, two] = [request, other].map((message) => wire.encodeSendRequest(message, credentials));
        expect(two).toEqual(one);
      }),
      { numRuns: 30 },
    );
  });
});
