import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { answerSuccess, type Peer, textPeer } from '../gateway/test-peers.ts';

export type SendCall = {
  readonly messageId: string;
  readonly recipients: readonly string[];
  /** Counts calls with this MessageID, from 1. */
  readonly call: number;
  /** Counts all calls, from 1. */
  readonly number: number;
};

/** `lost`: accepted without an answer; `dropped`: neither; `busy`: 503. */
export type SendReply =
  | { readonly kind: 'accepted' | 'lost' | 'dropped' | 'busy' }
  | { readonly kind: 'rejected'; readonly words: string };

export type SendPeer = Peer & {
  readonly calls: readonly SendCall[];
  readonly accepted: () => readonly SendCall[];
};

const body = z.object({
  MessageData: z.object({
    MessageID: z.string(),
    Destinations: z.array(z.object({ Recipient: z.string() })),
  }),
});

/** A service that answers as the test sets, accepts repeated MessageIDs, and answers look-ups. */
export async function sendPeer(reply: (call: SendCall) => SendReply | Promise<SendReply>): Promise<SendPeer> {
  const calls: SendCall[] = [];
  const accepted: SendCall[] = [];

  const answer = async (text: string, response: ServerResponse): Promise<void> => {
    const { MessageID: messageId, Destinations } = body.parse(JSON.parse(text)).MessageData;
    const call = {
      messageId,
      recipients: Destinations.map(({ Recipient }) => Recipient),
      call: 1 + calls.filter((earlier) => earlier.messageId === messageId).length,
      number: calls.length + 1,
    };
    calls.push(call);
    const what = await reply(call);
    if (what.kind === 'accepted' || what.kind === 'lost') accepted.push(call);
    switch (what.kind) {
      case 'accepted':
        return answerSuccess(messageId, response);
      case 'rejected':
        response.writeHead(400, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ Result: 'Failed', MessageID: messageId, ErrorMessage: [what.words] }));
        return;
      case 'busy':
        response.writeHead(503, { 'Retry-After': '0' }).end();
        return;
      default:
        response.destroy();
    }
  };

  const lookUp = (path: string, response: ServerResponse): void => {
    const MessageID = path.split('?')[0]?.split('/').at(-1) ?? '';
    const known = accepted.some(({ messageId }) => messageId === MessageID);
    response.writeHead(known ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(
      JSON.stringify(
        known ? { Result: 'Success', MessageID, Status: 'Pending' } : { Result: 'RecordNotFound', MessageID },
      ),
    );
  };

  const peer = await textPeer((text, response, request) => {
    if (request.method === 'GET') lookUp(request.url ?? '', response);
    else void answer(text, response);
  });
  return { ...peer, calls, accepted: () => accepted };
}
