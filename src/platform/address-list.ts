import { BlockList, isIP } from 'node:net';

/** IPv4 and IPv6 addresses. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) counts as the same address. */
export type AddressList = {
  readonly has: (address: string) => boolean;
};

type AddressRange = { readonly address: string; readonly prefix: number; readonly family: Family };
type Family = 'ipv4' | 'ipv6';

/**
 * @param ranges addresses or ranges such as `203.0.113.0/24`; ignores those that {@link isAddressRange} rejects
 */
export function createAddressList(ranges: readonly string[]): AddressList {
  const list = new BlockList();
  for (const range of ranges.map(parseAddressRange)) {
    if (range) list.addSubnet(range.address, range.prefix, range.family);
  }
  return {
    has: (address) => {
      const family = familyOf(address);
      return family !== undefined && list.check(address, family);
    },
  };
}

const loopback = createAddressList(['127.0.0.0/8', '::1/128']);

export function isLoopback(address: string): boolean {
  return loopback.has(address);
}

/** @param host in lower case, an IPv6 address without brackets */
export function namesThisMachine(host: string): boolean {
  return host === 'localhost' || isLoopback(host);
}

export function isAddressRange(text: string): boolean {
  return parseAddressRange(text) !== undefined;
}

function parseAddressRange(text: string): AddressRange | undefined {
  const [, address = '', written] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = familyOf(address);
  if (family === undefined) return undefined;
  const maxPrefix = family === 'ipv4' ? 32 : 128;
  const prefix = written === undefined ? maxPrefix : Number(written);
  return prefix <= maxPrefix ? { address, prefix, family } : undefined;
}

function familyOf(address: string): Family | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6';
}

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
