import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type RawConnection = {
  readonly socket: Socket;
  /** All that came back, once the other side has closed the connection or reset it. */
  readonly ended: Promise<string>;
  /** What has come back so far. */
  readonly received: () => string;
};

/** A connection for bytes that no HTTP client would send. */
export async function openRaw(url: string, bytes: string | Uint8Array = ''): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  // A reset is an end like another.
  socket.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  await once(socket, 'connect');
  if (bytes.length > 0) socket.write(bytes);
  return { socket, ended, received: () => received };
}

/** What comes back for these bytes until the other side closes the connection. */
export async function sendRaw(url: string, bytes: string | Uint8Array): Promise<string> {
  const { ended } = await openRaw(url, bytes);
  return ended;
}

/** The status lines of what came back, in order. */
export function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}
