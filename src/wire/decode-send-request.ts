import { decodeRest1 } from './rest-1.ts';
import { decodeRest202 } from './rest-2.02.ts';
import { decodeSoapTts } from './soap-tts.ts';
import type { DecodedSendRequest, ReceivedRequest } from './wire-interface.ts';

const decoders = [decodeRest202, decodeRest1, decodeSoapTts];

/** The service's side: reads a send request of any interface. Never throws. */
export function decodeSendRequest(received: ReceivedRequest): DecodedSendRequest {
  for (const decode of decoders) {
    const decoded = decode(received);
    if (decoded.kind !== 'other') return decoded;
  }
  return { kind: 'other' };
}
