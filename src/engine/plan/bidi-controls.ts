import type { Envelope, MessageFields } from '../../domain/message.ts';
import { bidiControls, characterName } from '../../platform/invisible-characters.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

/** Recipients whose message contains bidi control characters. */
export type BidiControls = {
  readonly recipients: number;
  /** Unicode names. */
  readonly characters: readonly string[];
  readonly examples: readonly string[];
};

const maxExamples = 3;

/**
 * Bidi controls can disguise text: `moc.elpmaxe` may read as another address. Languages written from right to left
 * need them, so no run is refused.
 */
export function createBidiReader(): (envelope: Envelope, destination: MessageFields) => readonly string[] {
  const sharedBy = memoizeByEnvelope(({ fields }) => Object.values(fields).flatMap(bidiControls));
  return (envelope, destination) => {
    const found = sharedBy(envelope);
    for (const field in destination) {
      const own = bidiControls(destination[field] ?? '');
      if (own.length > 0)
        return [...new Set([...found, ...Object.values(destination).flatMap(bidiControls)])];
    }
    return found;
  };
}

export function countBidiControls() {
  const characters = new Set<string>();
  const examples: string[] = [];
  let recipients = 0;
  return {
    add: (found: readonly string[], fileAndLine: () => string): void => {
      recipients++;
      for (const character of found) characters.add(characterName(character));
      if (examples.length < maxExamples) examples.push(fileAndLine());
    },
    found: (): BidiControls => ({ recipients, characters: [...characters], examples }),
  };
}
