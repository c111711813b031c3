import { secretOf } from '../wire/credentials.ts';
import type { Credentials } from './account.ts';
import type { Verdict } from './verdict.ts';

/** Turns a text of the service into one that may be stored and shown. */
export type Redact = (text: string) => string;

/**
 * Keeps credentials out of what is kept: error pages like to quote the request, and in the earlier interfaces the key
 * stands in its body. NUL goes too, which Postgres cannot store in a text.
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

/** As it is, and as it stands in JSON, in XML and in an address; the longest first. */
function encodingsOf(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inXml = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = inXml.replaceAll('"', '&quot;').replaceAll("'", '&apos;');
  return [...new Set([quoted, inXml, inJson, encodeURIComponent(secret), secret])];
}
