import { characterName } from '../../platform/invisible-characters.ts';

/** What was removed around phone numbers: `tel:`, and invisible characters by name. */
export type RemovedMarks = {
  readonly recipients: number;
  readonly marks: readonly { readonly mark: string; readonly recipients: number }[];
  readonly examples: readonly string[];
};

const maxExamples = 3;

export function countRemovedMarks() {
  const marks = new Map<string, number>();
  const examples: string[] = [];
  let recipients = 0;
  return {
    add: (removed: readonly string[], fileAndLine: () => string): void => {
      recipients++;
      for (const mark of new Set(removed)) marks.set(mark, (marks.get(mark) ?? 0) + 1);
      if (examples.length < maxExamples) examples.push(fileAndLine());
    },
    found: (): RemovedMarks => ({
      recipients,
      marks: [...marks].map(([mark, count]) => ({
        mark: mark === 'tel:' ? mark : characterName(mark),
        recipients: count,
      })),
      examples,
    }),
  };
}
