import type { SmsCause, SmsEncoding } from '../../domain/sms.ts';
import { BoundedCache } from '../../platform/bounded-cache.ts';
import { isInSeptets, twoSeptetCharacters, ucs2RunsOf } from './sms-parts.ts';
import { replacementInGsm, replacementsInSeptet, scriptOf } from './sms-replacements.ts';

/** A text without its costly characters, and what they were. */
export type Rewritten = { readonly text: string; readonly causes: readonly SmsCause[] };

/**
 * Rewrites a text in GSM-7 characters.
 *
 * @param encoding UCS-2: without the characters that force it; GSM-7: without those of two septets
 */
export type Rewrite = (text: string, encoding: SmsEncoding) => Rewritten;

export function createRewriter(): Rewrite {
  const rewriteRun = cacheRuns(rewriteInGsm);
  return (text, encoding) => {
    if (isInSeptets(text)) return { text, causes: [] };
    const causes = new Map<string, SmsCause>();
    const [costly, rewrite] =
      encoding === 'UCS-2'
        ? ([ucs2RunsOf(text), rewriteRun] as const)
        : ([twoSeptetCharacters, rewriteInSeptet] as const);
    const rewritten = text.replace(costly, (run) => {
      const found = rewrite(run);
      for (const cause of found.causes) causes.set(keyOfCause(cause), cause);
      return found.text;
    });
    return { text: rewritten, causes: [...causes.values()] };
  };
}

export function keyOfCause(cause: SmsCause): string {
  return cause.kind === 'letters' ? `letters ${cause.script}` : cause.character;
}

function cacheRuns(rewrite: (run: string) => Rewritten): (run: string) => Rewritten {
  const cache = new BoundedCache<string, Rewritten>();
  return (run) => {
    const known = cache.get(run);
    if (known) return known;
    const rewritten = rewrite(run);
    cache.set(run, rewritten, run.length);
    return rewritten;
  };
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function rewriteInGsm(run: string): Rewritten {
  const causes: SmsCause[] = [];
  let text = '';
  for (const { segment } of graphemes.segment(run)) {
    const instead = replacementInGsm(segment);
    text += instead ?? 'x'.repeat([...segment].length);
    const script = instead === null ? scriptOf(segment) : undefined;
    // The character before a mark can stand alone.
    if (instead === segment) continue;
    causes.push(
      script === undefined
        ? { kind: 'character', character: segment, instead: instead ?? '' }
        : { kind: 'letters', script },
    );
  }
  return { text, causes };
}

function rewriteInSeptet(character: string): Rewritten {
  const instead = replacementsInSeptet[character] ?? '';
  return { text: instead, causes: [{ kind: 'character', character, instead }] };
}
