/** Letters and digits that are not mistaken for one another when read out (Crockford's base 32). */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * A run's id: the day it was planned (UTC), and something random: `261121-7k2mq`. Short enough to type; that no two
 * runs share one is kept by the ledger's primary key.
 */
export function newRunId(now: Date, random: Uint8Array): string {
  const day = now.toISOString().slice(2, 10).replaceAll('-', '');
  const suffix = [...random].map((byte) => alphabet[byte % 32]).join('');
  return `${day}-${suffix}`;
}
