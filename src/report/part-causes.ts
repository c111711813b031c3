import type { PartCauseGroup, PartCauses, PartCosts, SmsCause } from '../domain/sms.ts';
import { characterName, firstInvisible } from '../platform/invisible-characters.ts';
import { addAmounts } from '../platform/money.ts';
import { count } from '../platform/sentence.ts';
import { printable } from './printable.ts';

const maxLines = 10;

/** Their sum, then one sentence per group; none when no character costs a part. */
export function partCauseLines(causes: PartCauses, allParts: number): string[] {
  const { currency, parts } = causes;
  if (parts === 0) return [];
  const groups = causes.groups.slice(0, maxLines);
  const others = sum([...causes.groups.slice(maxLines), ...(causes.others ? [causes.others] : [])]);
  return [
    `${count(parts, 'part')} of ${allParts}${costText(causes, currency)}, because of single characters; without them ${allParts - parts}`,
    ...groups.map((group) => `${causeText(group, currency)}; ${insteadText(group.causes)}`),
    ...(others ? [`because of other characters: ${moreText(others, currency)}`] : []),
  ];
}

function sum(costs: readonly PartCosts[]): PartCosts | undefined {
  const [first, ...rest] = costs;
  return first && rest.reduce(addCosts, first);
}

function addCosts(one: PartCosts, other: PartCosts): PartCosts {
  return {
    recipients: one.recipients + other.recipients,
    parts: one.parts + other.parts,
    cost: one.cost === null || other.cost === null ? null : addAmounts(one.cost, other.cost),
  };
}

/** `UCS-2 because of 🎉 (U+1F389) in the message: 412 parts more for 38 recipients, 33.00 AUD`. */
function causeText(group: PartCauseGroup, currency: string | null): string {
  const { encoding, causes } = group;
  const why = encoding === 'UCS-2' ? 'UCS-2 because of' : 'two septets each for';
  const named = [...Map.groupBy(causes, ({ column }) => column)].map(
    ([column, found]) =>
      `${joinWords(found.map(nameOfCause))} in ${column === null ? 'the message' : `column ${printable(column)}`}`,
  );
  return `${why} ${joinWords(named)}: ${moreText(group, currency)}`;
}

/** `write ' for ’, - for –; leave out 🎉`. */
export function insteadText(causes: readonly SmsCause[]): string {
  const characters = causes.flatMap((cause) => (cause.kind === 'character' ? [cause] : []));
  const letters = causes.filter(({ kind }) => kind === 'letters');
  const [only, second] = characters;
  if (only && !second && letters.length === 0)
    return only.instead === '' ? 'leave it out' : `write ${spell(only.instead)}`;
  const written = characters
    .filter(({ instead }) => instead !== '')
    .map(({ character, instead }) => `${spell(instead)} for ${show(character)}`);
  const omitted = characters.filter(({ instead }) => instead === '').map(({ character }) => show(character));
  return [
    ...(written.length === 0 ? [] : [`write ${written.join(', ')}`]),
    ...(omitted.length === 0 ? [] : [`leave out ${omitted.join(' ')}`]),
    ...(letters.length === 0 ? [] : ['GSM-7 cannot spell these letters']),
  ].join('; ');
}

export function nameOfCause(cause: SmsCause): string {
  if (cause.kind === 'letters') return `${cause.script} letters`;
  const { character } = cause;
  if (/^[\x20-\x7e€]$/.test(character)) return character;
  const codes = [...character].map(characterName).join(' ');
  return firstInvisible(character) === character ? codes : `${printable(character)} (${codes})`;
}

function show(character: string): string {
  return firstInvisible(character) === character ? characterName(character) : printable(character);
}

function spell(text: string): string {
  return text === ' ' ? 'an ordinary space' : text;
}

function moreText({ parts, recipients, cost }: PartCosts, currency: string | null): string {
  return `${count(parts, 'part')} more for ${count(recipients, 'recipient')}${costText({ cost }, currency)}`;
}

function costText({ cost }: Pick<PartCosts, 'cost'>, currency: string | null): string {
  return cost === null || currency === null ? '' : `, ${cost} ${currency}`;
}

function joinWords(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}
