import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault-proxy.ts';
import type { HttpMessage } from './http-messages.ts';

/** Requests reach the service only in faults that `forward`. */

export const forwardUnchanged: Fault = async ({ client, forward }) => client.write(bytesOf(await forward()));

/** Never answers, and does not close. */
const stall = (): Promise<never> => new Promise(() => {});

export const resetOnConnecting: Fault = async ({ client }) => client.resetAndDestroy();
export const stallOnConnecting: Fault = stall;

export const resetAfterHeader: Fault = async ({ client, header }) => {
  await header();
  client.resetAndDestroy();
};

export const resetAfterBody: Fault = async ({ client, forward }) => {
  await forward();
  client.resetAndDestroy();
};

/** Reads the whole request and drops it. */
export const resetInsteadOfForwarding: Fault = async ({ client, request }) => {
  await request();
  client.resetAndDestroy();
};

export const closeAfterBody: Fault = async ({ client, forward }) => {
  await forward();
  client.end();
};

export const stallBeforeAnswer: Fault = async ({ forward }) => {
  await forward();
  await stall();
};

export const stallInHeader: Fault = async ({ client, forward }) => {
  const { header } = await forward();
  client.write(header.subarray(0, 25));
  await stall();
};

export const stallInBody: Fault = async ({ client, forward }) => {
  client.write(allButOneByte(await forward()));
  await stall();
};

export const truncateHeader: Fault = async ({ client, forward }) => {
  const { header } = await forward();
  client.end(header.subarray(0, 25));
};

export const truncateBody: Fault = async ({ client, forward }) => {
  client.end(allButOneByte(await forward()));
};

/** An answer without a length ends with the connection, so a part of it looks complete. */
export const truncateBodyOfUnknownLength: Fault = async ({ client, forward }) => {
  const { body } = await forward();
  client.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${body.toString().slice(0, -1)}`);
};

export const resetInBodyOfUnknownLength: Fault = async ({ client, forward }) => {
  const { body } = await forward();
  client.write(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${body.toString().slice(0, -1)}`);
  await sleep(20);
  client.resetAndDestroy();
};

export const answerGarbage: Fault = async ({ client, forward }) => {
  await forward();
  client.end(Buffer.from(Array.from({ length: 256 }, (_, index) => (index * 151 + 7) % 256)));
};

/** Forwards the request, and replaces the answer. */
export function answerInstead(status: string, body: string, headers: readonly string[] = []): Fault {
  return async ({ client, forward }) => {
    await forward();
    client.write(answer(status, body, headers));
  };
}

/** Answers without forwarding. */
export function refuseWith(status: string, body = '', headers: readonly string[] = []): Fault {
  return async ({ client, request }) => {
    await request();
    client.write(answer(status, body, headers));
  };
}

export function redirectTo(status: string, location: string): Fault {
  return refuseWith(status, '', [`Location: ${location}`]);
}

/** Reads only the request's header. */
export function answerEarly(status: string, body: string): Fault {
  return async ({ client, header }) => {
    await header();
    client.write(answer(status, body, ['Connection: close']));
    await stall();
  };
}

/** The service's success for another MessageID. */
export const answerForAnother: Fault = async ({ client, forward }) => {
  const { body } = await forward();
  client.write(answer('200 OK', body.toString().replace(/"MessageID" *: *"/, '$&another')));
};

/** @param size bytes, written as fast as the other side reads them */
export function answerWithABodyOf(size: number): Fault {
  return async ({ client, forward }) => {
    await forward();
    client.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
    const block = Buffer.alloc(65_536, ' ');
    for (let written = 0; written < size && !client.destroyed; written += block.length) {
      if (!client.write(block))
        await new Promise((resolve) => client.once('drain', resolve).once('close', resolve));
    }
  };
}

/** @param line of an informational answer, such as `102 Processing` */
export function announce(line: string, times: number): Fault {
  return async ({ client, forward }) => {
    const answer = bytesOf(await forward());
    client.write(`HTTP/1.1 ${line}\r\n\r\n`.repeat(times));
    client.write(answer);
  };
}

export const answerBeforeReading: Fault = async ({ client, header, forward }) => {
  await header();
  client.write('HTTP/1.1 103 Early Hints\r\n\r\n');
  client.write(bytesOf(await forward()));
};

/** One byte at a time. */
export const trickle: Fault = async ({ client, forward }) => {
  client.setNoDelay(true);
  for (const byte of bytesOf(await forward())) {
    client.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
};

/** Sends a second answer in the same piece, so that it arrives before any other request. */
export function answerTwice(second: string): Fault {
  return async ({ client, forward }) => {
    client.write(Buffer.concat([bytesOf(await forward()), Buffer.from(answer(second, ''))]));
  };
}

/** Closes a connection that the engine keeps for reuse. */
export const closeAfterAnswer: Fault = async ({ client, forward }) => {
  client.end(bytesOf(await forward()));
};

export const resetAfterAnswer: Fault = async ({ client, forward }) => {
  client.write(bytesOf(await forward()));
  await sleep(10);
  client.resetAndDestroy();
};

/** Forwards this request; then refuses connections for a while. */
export function shutFor(milliseconds: number): Fault {
  return async ({ client, forward, refuse, listen }) => {
    client.end(bytesOf(await forward()));
    refuse();
    await sleep(milliseconds);
    await listen();
  };
}

/** Forwards the request, and replaces the answer: after a delay, and later again, which the next request can receive. */
export function answerDoubled(status: string, body: string, answerAfter: number, strayAfter: number): Fault {
  return async ({ client, forward }) => {
    await forward();
    await sleep(answerAfter);
    client.write(answer(status, body));
    setTimeout(() => client.writable && client.write(answer(status, body)), strayAfter);
  };
}

function answer(status: string, body: string, headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status}`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

function bytesOf({ header, body }: HttpMessage): Buffer {
  return Buffer.concat([header, body]);
}

function allButOneByte(message: HttpMessage): Buffer {
  return bytesOf(message).subarray(0, -1);
}

/** Answers after a delay, and later writes one answer too many, which the next request can receive. */
export function answerTooMany(status: string, body: string, answerAfter: number, strayAfter: number): Fault {
  return async ({ client, forward }) => {
    const own = await forward();
    await sleep(answerAfter);
    client.write(bytesOf(own));
    setTimeout(() => client.writable && client.write(answer(status, body)), strayAfter);
  };
}
