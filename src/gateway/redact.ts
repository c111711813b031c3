import { secretOf } from '../wire/credentials.ts';
import type { Credentials } from './account.ts';
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

/** Plain, and as in JSON, XML and addresses; the longest first. */
function encodingsOf(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inXml = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = inXml.replaceAll('"', '&quot;').replaceAll("'", '&apos;');
  return [...new Set([quoted, inXml, inJson, encodeURIComponent(secret), secret])];
}
