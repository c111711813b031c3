import type { InterfaceName } from '../domain/message.ts';
import { InputError, type Problem } from '../domain/problems.ts';
import { didYouMean } from '../platform/suggestions.ts';
import { type Campaign, fieldsOf } from './campaign.ts';
import { hasPlaceholder } from './placeholders.ts';

/** The ChargeCodes that may be charged, and the name of their file as errors show it. */
export type ChargeCodeList = { readonly name: string; readonly codes: ReadonlySet<string> };

/** Collects the contacts whose ChargeCode is not valid. What it keeps of them does not grow with their number. */
export type ChargeCodeCheck = {
  /**
   * @param code undefined for a contact without
   * @param line of the contact in its file
   * @param file its name as errors show it
   */
  readonly check: (code: string | undefined, line: number, file: string) => void;
  /** @throws InputError with the first lines, by code, and the count of all */
  readonly throwIfAny: () => void;
};

const maxShownLines = 20;

type ContactSource = { readonly file: string; readonly line: number };
/** Contacts with the same faulty code; `places` are the first of them. */
type FaultyCode = { count: number; readonly sources: ContactSource[] };

/** @param where the list is asked for, in the campaign */
export function createChargeCodeCheck({ name, codes }: ChargeCodeList, where: string): ChargeCodeCheck {
  const faultyCodes = new Map<string | undefined, FaultyCode>();
  let faultyContacts = 0;

  const recordFault = (code: string | undefined, source: ContactSource): void => {
    faultyContacts++;
    const known = faultyCodes.get(code);
    if (known) {
      known.count++;
      if (known.sources.length < maxShownLines) known.sources.push(source);
    } else if (faultyCodes.size < maxShownLines) {
      faultyCodes.set(code, { count: 1, sources: [source] });
    }
  };

  return {
    check: (code, line, file) => {
      if (code === undefined || !codes.has(code)) recordFault(code, { file, line });
    },
    throwIfAny: () => {
      if (faultyContacts === 0) return;
      const known = [...codes];
      const problems: Problem[] = [];
      let shown = faultyCodes.size;
      for (const [code, { count, sources }] of faultyCodes) {
        const [first, ...others] = sources.slice(0, 1 + maxShownLines - shown);
        if (first === undefined) continue;
        shown += others.length;
        const what =
          code === undefined
            ? `The contact has no ChargeCode; expected one of ${name}.`
            : codeError(code, name, known);
        problems.push({
          where: `${first.file}:${first.line}`,
          what: `${what}${formatOtherLines(count - 1, first, others)}`,
        });
      }
      if (faultyContacts > shown) {
        const what = `${faultyContacts} contacts have no ChargeCode that is in ${name}; ${shown} of them are shown.`;
        problems.push({ where, what });
      }
      throw new InputError(problems);
    },
  };
}

/** " So have lines 18 and 23, and 40 more." */
function formatOtherLines(count: number, first: ContactSource, others: readonly ContactSource[]): string {
  if (count === 0) return '';
  const lines = others.map(({ file, line }) => (file === first.file ? String(line) : `${file}:${line}`));
  const unseen = count - lines.length;
  if (lines.length === 0) return ` The same in ${count} more.`;
  return ` The same in line${lines.length > 1 ? 's' : ''} ${lines.join(', ')}${unseen > 0 ? ` and ${unseen} more` : ''}.`;
}

function codeError(code: string, name: string, known: readonly string[]): string {
  return `ChargeCode "${code}" is not in ${name}.${didYouMean(code, known)}`;
}

/**
 * What can be told of ChargeCodes before any contact is read: whether the message has one at all, and whether one
 * that is the same for everybody is valid.
 *
 * @throws InputError at the campaign's line
 */
export function checkCampaignChargeCode(
  { value: definition, locate }: Campaign,
  interfaceName: InterfaceName,
  { name, codes }: ChargeCodeList,
): void {
  const field = fieldsOf(definition, interfaceName).find((set) => set.definition.name === 'ChargeCode');
  if (field === undefined) {
    const what = `Valid ChargeCodes are listed, and the message has no ChargeCode; set "message.ChargeCode", such as "[[Column]]", or remove "chargeCodes".`;
    throw new InputError([{ where: locate(['chargeCodes']), what }]);
  }
  if (hasPlaceholder(field.source) || codes.has(field.source)) return;
  const what = `"message.${field.key}": ${codeError(field.source, name, [...codes])}`;
  throw new InputError([{ where: locate(['message', field.key]), what }]);
}
