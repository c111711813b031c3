import { setTimeout as sleep } from 'node:timers/promises';
import { interceptors, Pool } from 'undici';
import { expect, test } from 'vitest';
import { exchange } from '../../src/gateway/exchange.ts';
import { rest202Json } from '../../src/wire/rest-2.02.ts';
import { httpPeer, smsRequest } from './test-peers.ts';

test('a second write of the same request is stopped before its header, whichever layer below causes it', async () => {
  const received: string[] = [];
  await using peer = await httpPeer((_messageId, response, { url = '' }) => {
    received.push(url);
    response.writeHead(307, { Location: '/again' }).end();
  });
  const pool = new Pool(peer.url, { allowH2: false });
  const repeating = pool.compose(interceptors.redirect({ maxRedirections: 3 }));
  const request = rest202Json.encodeSendRequest(smsRequest('V1'), { kind: 'authToken', authToken: 't' });

  const evidence = await exchange(repeating, request, { headers: 1000, body: 1000, maxAnswerBytes: 1000 });

  expect(evidence).toEqual({
    kind: 'no_answer',
    error: 'stopped before it was written a second time',
  });
  await sleep(50);
  expect(received).toEqual(['/api/v2.02/send/sms']);
  await pool.close();
});
