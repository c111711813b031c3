import dns from 'node:dns';

/** Browsers take each name under `localhost` for this machine. The resolver of this process does so too from here on. */
const lookup = dns.lookup;
Object.assign(dns, {
  lookup: (host: string, ...rest: unknown[]) =>
    Reflect.apply(lookup, dns, [host.endsWith('.localhost') ? '127.0.0.1' : host, ...rest]),
});

/** The address of a dashboard that a test serves at a listener under the name `dashboard.localhost`. */
export function ownAddress(listener: string): string {
  return listener.replace('//127.0.0.1:', '//dashboard.localhost:');
}

export const ownName = 'dashboard.localhost';
