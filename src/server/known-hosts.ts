import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { namesThisMachine } from '../platform/address-list.ts';

/** The name in a `Host` header, in lower case, an IPv6 address without brackets. */
export function parseHost(header = ''): string {
  return header
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}

/**
 * Tells hosts that callers may name, against DNS rebinding: a browser sends the name of the page. That is never an IP
 * address, so every address is allowed, unless the listener is bound to loopback.
 *
 * @param names further names of this machine
 */
export function createHostCheck(listening: string, names: readonly string[]): (header?: string) => boolean {
  const known = new Set([listening, hostname(), ...names].map((name) => name.toLowerCase()));
  const local = namesThisMachine(listening.toLowerCase());
  return (header) => {
    const host = parseHost(header);
    return namesThisMachine(host) || known.has(host) || (!local && isIP(host) !== 0);
  };
}
