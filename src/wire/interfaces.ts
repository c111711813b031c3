import type { Format, InterfaceName } from '../domain/message.ts';
import { InputError } from '../domain/problems.ts';
import { decodeRest1, rest102Json, rest102Xml, rest104Json, rest104Xml } from './rest-1.ts';
import { decodeRest202, rest202Json, rest202Xml } from './rest-2.02.ts';
import { decodeSoapTts, soapTts } from './soap-tts.ts';
import type { DecodedSendRequest, ReceivedRequest, WireInterface } from './wire-interface.ts';

export const wireInterfaces: readonly WireInterface[] = [
  rest202Json,
  rest202Xml,
  rest104Json,
  rest104Xml,
  rest102Json,
  rest102Xml,
  soapTts,
];

/** @throws InputError, with the available combinations, for one that is not available */
export function wireInterface(name: InterfaceName, format: Format): WireInterface {
  const found = wireInterfaces.find((candidate) => candidate.name === name && candidate.format === format);
  if (found) return found;
  const available = wireInterfaces.map((candidate) => `${candidate.name} in ${candidate.format}`).join(', ');
  throw new InputError([
    {
      where: `interface ${name}, format ${format}`,
      what: `This combination is not available. Set the account's interface and format to one of: ${available}.`,
    },
  ]);
}

const decoders = [decodeRest202, decodeRest1, decodeSoapTts];

/** The service's side: reads a send request of any interface. Never throws. */
export function decodeSendRequest(received: ReceivedRequest): DecodedSendRequest {
  for (const decode of decoders) {
    const decoded = decode(received);
    if (decoded.kind !== 'other') return decoded;
  }
  return { kind: 'other' };
}
