import type { Envelope, MessageFields } from '../../domain/message.ts';
import { bidiControls, characterName } from '../../platform/invisible-characters.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

/** Recipients whose message holds characters that turn the direction of the text after them. */
export type BidiControls = {
  readonly recipients: number;
  /** The characters, by their names in Unicode. */
  readonly characters: readonly string[];
  readonly examples: readonly string[];
};

const maxExamples = 3;

/**
 * Counts recipients who may read their message otherwise than it was written: a bidi control in a text or in a value can
 * show `moc.elpmaxe` as an address of somebody else. Languages written from right to left may need them, so nothing is
 * refused.
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
