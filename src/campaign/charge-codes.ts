import type { InterfaceName } from '../domain/message.ts';
import { InputError, type Problem } from '../domain/problems.ts';
import type { CostTotal } from '../domain/rate-card.ts';
import { count } from '../platform/sentence.ts';
import { didYouMean } from '../platform/suggestions.ts';
import { type Campaign, fieldsOf } from './campaign.ts';
import { hasPlaceholder } from './placeholders.ts';

export type ChargeCodeList = { readonly name: string; readonly codes: ReadonlySet<string> };

const maxShownLines = 20;

type ContactSource = { readonly file: string; readonly line: number };
/** `sources` are the first contacts with this code. */
type FaultyCode = { count: number; readonly sources: ContactSource[] };

/**
 * Collects the contacts with invalid ChargeCodes, in constant memory.
 *
 * @param where `file:line:column` of `chargeCodes` in the campaign
 */
export function createChargeCodeCheck({ name, codes }: ChargeCodeList, where: string) {
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
    /**
     * @param code undefined: the contact has none
     * @param file the contact file's name in errors
     */
    check(code: string | undefined, line: number, file: string): void {
      if (code === undefined || !codes.has(code)) recordFault(code, { file, line });
    },
    throwIfAny(): void {
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
        const what = `${faultyContacts} contacts in all have no ChargeCode that is in ${name}; the lines of ${shown} are named above.`;
        problems.push({ where, what });
      }
      throw new InputError(problems);
    },
  };
}

/** Says, for example, " The same in lines 18, 23 and 40 more." */
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
 * Checks ChargeCodes before any contact is read: that the message has one, and that a constant one is valid.
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
    const what = `"chargeCodes" lists valid ChargeCodes, but the message has none; set "message.ChargeCode", such as "[[Column]]", or remove "chargeCodes".`;
    throw new InputError([{ where: locate(['chargeCodes']), what }]);
  }
  if (hasPlaceholder(field.source) || codes.has(field.source)) return;
  const what = `"message.${field.key}": ${codeError(field.source, name, [...codes])}`;
  throw new InputError([{ where: locate(['message', field.key]), what }]);
}

const maxGroups = 5;

const fields = [
  ['SubAccount', 'subAccount'],
  ['ChargeCode', 'chargeCode'],
] as const;

/**
 * Values that differ only in case or spaces: the service bills them apart, and they usually mean one payer.
 *
 * @returns sentences without a full stop
 */
export function similarPayerWarnings(totals: readonly CostTotal[]): string[] {
  return fields.flatMap(([name, key]) => {
    const recipients = new Map<string, number>();
    for (const total of totals) {
      const value = total[key];
      if (value !== null) recipients.set(value, (recipients.get(value) ?? 0) + total.recipients);
    }
    const groups = [...Map.groupBy(recipients, ([value]) => comparedForm(value)).values()];
    return groups
      .filter(({ length }) => length > 1)
      .slice(0, maxGroups)
      .map((group) => {
        const each = group
          .toSorted(([, one], [, other]) => other - one)
          .map(([value, total]) => `"${value}" (${count(total, 'recipient')})`);
        return `${name} has values that differ only in case or spaces, and are billed apart: ${each.join(', ')}`;
      });
  });
}

function comparedForm(value: string): string {
  return value.normalize('NFKC').replaceAll(/\s+/g, '').toLowerCase();
}
