import { type Credentials, secretOf } from '../wire/wire-interface.ts';
import type { Verdict } from './verdict.ts';

/** Makes a text of the service safe to store and show. */
export type Redact = (text: string) => string;

/**
 * Error pages often quote the request, and in earlier interfaces its body contains the key. Also removes NUL,
 * which Postgres cannot store.
 */
export function createRedactor(credentials: Credentials): Redact {
  const encodings = encodingsOf(secretOf(credentials));
  return (text) => encodings.reduce((text, form) => text.replaceAll(form, '***'), text.replaceAll('\0', ''));
}

export function redactVerdict(verdict: Verdict, redact: Redact): Verdict {
  switch (verdict.kind) {
    case 'accepted':
      return verdict.jobNumber === undefined ? verdict : { ...verdict, jobNumber: redact(verdict.jobNumber) };
    case 'rejected':
    case 'unauthorized':
      return { ...verdict, words: verdict.words.map(redact) };
    case 'retry':
    case 'in_doubt':
      return { ...verdict, reason: redact(verdict.reason) };
  }
}

/** Plain, and as in JSON, XML, addresses and Base64; the longest first. */
function encodingsOf(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inXml = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = inXml.replaceAll('"', '&quot;').replaceAll("'", '&apos;');
  return [...new Set([...inBase64(secret), quoted, inXml, inJson, encodeURIComponent(secret), secret])];
}

/** Shorter parts of Base64 could be part of any text. */
const minBase64Length = 10;

/**
 * A longer text that contains the secret can begin at three places of a group of four Base64 characters. Characters
 * that also encode its neighbours are left out.
 */
function inBase64(secret: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const form = bytes
      .toString('base64')
      .slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
    const inAddresses = form.replaceAll('+', '-').replaceAll('/', '_');
    return form.length < minBase64Length ? [] : [form, inAddresses];
  });
}
