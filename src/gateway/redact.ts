import { secretOf } from '../wire/credentials.ts';
import type { Credentials } from './account.ts';
import type { Verdict } from './verdict.ts';

/**
 * Keeps credentials out of what is kept. Error pages like to quote the request, and in the earlier interfaces the key
 * stands in its body; a verdict's words are stored and shown.
 */
export function redactor(credentials: Credentials): (verdict: Verdict) => Verdict {
  const forms = formsOf(secretOf(credentials));
  const redact = (text: string): string => forms.reduce((kept, form) => kept.replaceAll(form, '***'), text);
  return (verdict) => {
    switch (verdict.kind) {
      case 'accepted':
        return verdict.job === undefined ? verdict : { ...verdict, job: redact(verdict.job) };
      case 'rejected':
      case 'unauthorized':
        return { ...verdict, words: verdict.words.map(redact) };
      case 'retry':
      case 'in_doubt':
        return { ...verdict, reason: redact(verdict.reason) };
    }
  };
}

/** As it is, and as it stands in JSON, in XML and in an address; the longest first. */
function formsOf(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inXml = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = inXml.replaceAll('"', '&quot;').replaceAll("'", '&apos;');
  return [...new Set([quoted, inXml, inJson, encodeURIComponent(secret), secret])];
}
