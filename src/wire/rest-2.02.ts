import type { Channel, SendRequest } from '../domain.ts';
import { isObject, member, parseJson } from './json.ts';
import { fromMessageData, toMessageData } from './message-json.ts';
import { decodeSendAnswer, encodeSendAnswerJson } from './send-answer.ts';
import type {
  DecodedSendRequest,
  EncodedSendRequest,
  ReceivedRequest,
  WireCredentials,
  WireInterface,
} from './wire.ts';

/** REST interface v2.02 (interface.md, 4.1): one path a channel, the token in a header, the message in `MessageData`. */

const channels: readonly Channel[] = ['email', 'sms', 'fax'];
const pathPrefix = '/api/v2.02/send/';
const contentType = "application/json; encoding='utf-8'";

/** Version 2.02 in JSON. */
export const rest202Json: WireInterface = {
  name: 'rest-2.02',
  format: 'json',
  channels,
  encodeSendRequest,
  decodeSendRequest,
  encodeSendAnswer: encodeSendAnswerJson,
  decodeSendAnswer,
};

function encodeSendRequest(request: SendRequest, credentials: WireCredentials): EncodedSendRequest {
  if (!channels.includes(request.channel)) {
    throw new Error(`rest-2.02 has no channel ${request.channel}; it has ${channels.join(', ')}`);
  }
  if (credentials.kind !== 'authToken') {
    throw new Error(`rest-2.02 takes an auth token, not credentials of kind ${credentials.kind}`);
  }
  return {
    method: 'POST',
    path: pathPrefix + request.channel,
    headers: {
      'Content-Type': contentType,
      Accept: contentType,
      Authorization: `Basic ${credentials.authToken}`,
    },
    body: Buffer.from(JSON.stringify({ MessageData: toMessageData('rest-2.02', request) })),
  };
}

function decodeSendRequest({ method, path, headers, body }: ReceivedRequest): DecodedSendRequest {
  const channel = channels.find((candidate) => path === pathPrefix + candidate);
  if (method !== 'POST' || channel === undefined) return { kind: 'other' };

  const token = authToken(headers['authorization']);
  const credentials: { credentials?: WireCredentials } =
    token === undefined ? {} : { credentials: { kind: 'authToken', authToken: token } };

  const envelope = parseJson(body);
  const data = isObject(envelope) ? member(envelope, 'MessageData') : undefined;
  if (!isObject(data)) return { kind: 'unreadable', channel, ...credentials };
  return { kind: 'request', request: fromMessageData(channel, data), ...credentials };
}

function authToken(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? /^Basic +(\S+)\s*$/i.exec(header)?.[1] : undefined;
}
