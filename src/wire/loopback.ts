import { namesThisMachine } from '../platform/address-list.ts';

/** Whether what is sent to another machine can be unencrypted. */
export const plainHttpPolicies = ['refused', 'allowed'] as const;
export type PlainHttpPolicy = (typeof plainHttpPolicies)[number];

/** Whether an address is http on this machine. */
export function isLoopbackHttp(address: string | undefined): boolean {
  const url = address === undefined ? null : URL.parse(address);
  return url !== null && url.protocol === 'http:' && isLoopbackHost(url.hostname);
}

/** Whether what is sent to an address crosses the network unencrypted. */
export function isPlainHttp({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !isLoopbackHost(hostname) && !hostname.endsWith('.localhost');
}

/** @param hostname as `URL` has it: lower case, an IPv6 address in brackets */
export function isLoopbackHost(hostname: string): boolean {
  return namesThisMachine(hostname.replace(/^\[(.*)\]$/, '$1'));
}
