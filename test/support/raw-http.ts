import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type RawConnection = {
  readonly socket: Socket;
  /** All received data, once the server closed or reset the connection. */
  readonly ended: Promise<string>;
  /** Data so far. */
  readonly received: () => string;
};

/** Opens a connection for bytes that no HTTP client would send. */
export async function openRawConnection(
  url: string,
  bytes: string | Uint8Array = '',
): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  // A reset counts as an end.
  socket.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  await once(socket, 'connect');
  if (bytes.length > 0) socket.write(bytes);
  return { socket, ended, received: () => received };
}

/** Returns all data until the server closes the connection. */
export async function sendRaw(url: string, bytes: string | Uint8Array): Promise<string> {
  const { ended } = await openRawConnection(url, bytes);
  return ended;
}

/** Returns the status codes, in order. */
export function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}
