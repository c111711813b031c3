/** Bytes that a key of the Standard Webhooks scheme has ("Signature scheme"). */
const [fewest, most] = [24, 64];

/** What is said of another one. */
export const wrongSignatureKey = `The key of the signature must be whsec_ and ${fewest} to ${most} bytes in base64.`;

/** The key of a signature; undefined for what is none. */
export function readSignatureKey(value: string): Buffer | undefined {
  const base64 = /^whsec_([\w+/-]+={0,2})$/.exec(value)?.[1] ?? '';
  const key = Buffer.from(base64, 'base64');
  return key.length < fewest || key.length > most ? undefined : key;
}
