import {
  type Destination,
  type DestinationField,
  destinationFields,
  type MessageFields,
} from '../domain/message.ts';
import { asPlaceholder, type Segment, type Template } from './placeholders.ts';

/**
 * Decides whether the service or Volley fills the placeholders, for the fewest requests. If there are enough
 * destination fields for all values, they travel in those fields and a whole chunk shares one request. Otherwise
 * Volley renders, and only recipients with equal content share a request.
 */

export type FieldBinding = {
  readonly field: DestinationField;
  readonly column: string;
  readonly fallback: string;
};

export type MergePlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'service'; readonly slots: readonly FieldBinding[]; readonly template: Template }
  | { readonly kind: 'engine'; readonly why: string };

/** Fields without a meaning of their own, which an unmapped column can use. */
const freeFields: readonly DestinationField[] = ['Custom1', 'Custom2'];

/**
 * @param template the one field that the service merges (the SMS text; interface.md, 2.5)
 * @param mergeable the destination fields that the service can merge into it
 * @param mapped the campaign's own mapping
 */
export function planMerge(
  template: Template | undefined,
  mergeable: readonly DestinationField[],
  mapped: MessageFields,
): MergePlan {
  const needed = distinctColumns(template ?? []);
  if (needed.length === 0) return { kind: 'none' };
  if (mergeable.length === 0) return { kind: 'engine', why: 'the service does not merge here' };

  const bindings: FieldBinding[] = [];
  for (const { column, fallback } of needed) {
    const remaining = mergeable.filter((candidate) => !bindings.some((used) => used.field === candidate));
    const field =
      remaining.find((candidate) => mapped[candidate] === column) ??
      remaining.find((candidate) => mapped[candidate] === undefined && freeFields.includes(candidate));
    if (!field) return { kind: 'engine', why: `no destination field is left for ${asPlaceholder(column)}` };
    bindings.push({ field, column, fallback });
  }
  return {
    kind: 'service',
    slots: bindings,
    template: (template ?? []).map((segment) => toServicePlaceholder(segment, bindings)),
  };
}

/** An SMS text, merged as by the service (interface.md, 2.5). */
export type MergeText = {
  readonly constant: boolean;
  readonly mergedFor: (destination: Destination) => string;
};

const fieldPlaceholder = new RegExp(`\\[\\[(${destinationFields.join('|')})\\]\\]`);

export function mergeText(text: string): MergeText {
  // Texts at even indexes, field names at odd ones.
  const parts = text.split(fieldPlaceholder);
  const fields = parts.flatMap((part, index) =>
    destinationFields.filter((field) => index % 2 === 1 && field === part),
  );
  const texts = parts.filter((_, index) => index % 2 === 0);
  return {
    constant: fields.length === 0,
    mergedFor: (destination) => {
      let merged = texts[0] ?? '';
      for (const [index, field] of fields.entries()) {
        merged += (destination[field] ?? '') + (texts[index + 1] ?? '');
      }
      return merged;
    },
  };
}

/** Lists each column once for each fallback: a column with two fallbacks needs two fields. */
function distinctColumns(template: Template): { column: string; fallback: string }[] {
  const distinct = new Map<string, { column: string; fallback: string }>();
  for (const segment of template) {
    if (segment.kind === 'column') {
      distinct.set(JSON.stringify([segment.column, segment.fallback]), segment);
    }
  }
  return [...distinct.values()];
}

function toServicePlaceholder(segment: Segment, bindings: readonly FieldBinding[]): Segment {
  if (segment.kind !== 'column') return segment;
  const binding = bindings.find(
    ({ column, fallback }) => column === segment.column && fallback === segment.fallback,
  );
  return binding ? { kind: 'service', text: `[[${binding.field}]]` } : segment;
}
