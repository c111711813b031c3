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
export function countBidiControls() {
  const sharedBy = memoizeByEnvelope(({ fields }) => Object.values(fields).flatMap(bidiControls));
  const characters = new Set<string>();
  const examples: string[] = [];
  let recipients = 0;
  return {
    add: (envelope: Envelope, destination: MessageFields, fileAndLine: () => string): void => {
      const found = [...sharedBy(envelope), ...Object.values(destination).flatMap(bidiControls)];
      if (found.length === 0) return;
      recipients++;
      for (const character of found) characters.add(characterName(character));
      if (examples.length < maxExamples) examples.push(fileAndLine());
    },
    found: (): BidiControls => ({ recipients, characters: [...characters], examples }),
  };
}
