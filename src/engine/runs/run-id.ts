/** Crockford's base 32: no characters that sound or look alike. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** The day of planning (UTC) and a random suffix: `261121-7k2mq`. Short to type; the primary key keeps it unique. */
export function newRunId(now: Date, random: Uint8Array): string {
  const day = now.toISOString().slice(2, 10).replaceAll('-', '');
  const suffix = [...random].map((byte) => alphabet[byte % 32]).join('');
  return `${day}-${suffix}`;
}

/** Whether the text is the whole id of a run, known or not. */
export function isRunId(text: string): boolean {
  return /^\d{6}-[0-9a-z]{5}$/.test(text);
}
