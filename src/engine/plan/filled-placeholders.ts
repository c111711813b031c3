import type { Composition } from '../../campaign/composition.ts';
import { asPlaceholder, type Template } from '../../campaign/placeholders.ts';
import type { FilledPlaceholder } from '../../domain/rendered-message.ts';

/** Every placeholder of a message with the value that one contact gives it, each once in each place. */
export function listFilledPlaceholders(
  composition: Composition,
  valueIn: (column: string) => string,
): FilledPlaceholder[] {
  const { merge, serviceText } = composition;
  const slots = merge.kind === 'service' ? merge.slots : [];
  // Volley renders the text of a contact with an empty value (`campaign/envelope.ts`).
  const isMerged =
    slots.length > 0 && slots.every(({ column, fallback }) => (valueIn(column) || fallback) !== '');
  const filled = new Map<string, FilledPlaceholder>();
  for (const [place, template] of templatesOf(composition)) {
    for (const segment of template) {
      if (segment.kind === 'text') continue;
      const own = { place, mergedFrom: null };
      const found: FilledPlaceholder =
        segment.kind === 'service'
          ? { ...own, placeholder: segment.text, value: null, source: 'service' }
          : fillColumn(segment, valueIn, place);
      const slot = isMerged && place === serviceText?.definition.name && segment.kind === 'column';
      const field = slot
        ? slots.find(({ column, fallback }) => column === segment.column && fallback === segment.fallback)
            ?.field
        : undefined;
      filled.set(
        `${place}\0${found.placeholder}`,
        field === undefined ? found : { ...found, mergedFrom: field },
      );
    }
  }
  return [...filled.values()];
}

function fillColumn(
  { column, fallback }: { readonly column: string; readonly fallback: string },
  valueIn: (column: string) => string,
  place: string,
): FilledPlaceholder {
  const value = valueIn(column);
  const name = asPlaceholder(column);
  return {
    place,
    placeholder: fallback === '' ? name : name.replace(/\]\]$/, () => `|${fallback}]]`),
    value: value || fallback,
    source: value === '' && fallback !== '' ? 'fallback' : 'column',
    mergedFrom: null,
  };
}

function templatesOf(composition: Composition): (readonly [string, Template])[] {
  const { fields, audio, keypads, files, serviceText } = composition;
  return [
    ...fields.map(({ definition, template }) => {
      const isServices = definition === serviceText?.definition;
      return [definition.name, isServices ? serviceText.template : template] as const;
    }),
    ...audio.map(({ definition, template }) => [definition.name, template] as const),
    ...keypads.map(({ tone, routeNumber }) => [`Keypad ${tone}`, routeNumber] as const),
    ...files.map(({ path, name = [] }, index) => [`File ${index + 1}`, [...path, ...name]] as const),
  ];
}
