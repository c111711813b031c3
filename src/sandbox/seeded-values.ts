import { createHash } from 'node:crypto';

/** A number in [0, 1) that depends only on its parts, so that simulated deliveries repeat exactly. */
export function seededRandom(...parts: readonly (string | number)[]): number {
  return digest(parts).readUIntBE(0, 6) / 2 ** 48;
}

/** A digit and 7 capital letters or digits, like the service's job numbers. */
export function createJobNumber(...parts: readonly (string | number)[]): string {
  const hex = digest(parts).toString('hex').toUpperCase();
  return `${Number.parseInt(hex.slice(0, 2), 16) % 10}${hex.slice(2, 9)}`;
}

export function createUuid(...parts: readonly (string | number)[]): string {
  const hex = digest(parts).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function digest(parts: readonly (string | number)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}
