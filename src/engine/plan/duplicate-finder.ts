import { hash } from 'node:crypto';
import { comparedAddress } from '../../domain/compared-address.ts';
import type { Contact, ContactIdentity } from '../../domain/contacts.ts';
import type { DuplicateReason } from '../../domain/reasons.ts';
import type { DuplicateContacts } from '../../domain/rejected-contacts.ts';
import { createFingerprintMap } from '../../platform/fingerprints.ts';
import type { createLineFinder } from './line-numbers.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

type ValidContact = Extract<Contact, { kind: 'contact' }>;

export type DuplicateFinder = {
  /**
   * @param compared the address, normalised for comparison
   * @param line counted over all files
   * @returns why the contact is rejected; undefined for the first of its kind
   */
  readonly findDuplicate: (
    contact: ValidContact,
    compared: string,
    line: number,
  ) => DuplicateReason | undefined;
  readonly repeated: () => DuplicateContacts;
  readonly bytes: () => number;
};

const maxExamples = 3;

/**
 * Keeps the line of each first contact and 32 bits of its content: a different contact passes as equal once in four
 * billion.
 *
 * @param findLine finds the file of a line that is counted over all files
 */
export function createDuplicateFinder(
  identity: ContactIdentity,
  findLine: ReturnType<typeof createLineFinder>,
): DuplicateFinder {
  const { key, duplicates } = identity;
  const firsts = createFingerprintMap();
  const digestOf = memoizeByEnvelope((envelope) => hash('sha256', JSON.stringify(envelope), 'base64'));
  const differing: DuplicateContacts['examples'][number][] = [];
  const alike: DuplicateContacts['examples'][number][] = [];
  const counts = { rows: 0, differing: 0 };

  const hashContent = ({ envelope, destination, zones, address }: ValidContact): number => {
    const content = JSON.stringify([digestOf(envelope), destination, zones, comparedAddress(address)]);
    return hash('sha256', content, 'buffer').readUInt32LE();
  };
  return {
    findDuplicate(contact, compared, line) {
      if (duplicates === 'allow') return undefined;
      const same = key.length > 0 ? (contact.key ?? '') : compared;
      const content = hashContent(contact);
      const first = firsts.add(same, line, content);
      if (first === undefined) return undefined;
      counts.rows++;
      const [firstLine, firstContent] = first;
      const differs = firstContent !== content;
      const detail: DuplicateReason = { kind: 'same_contact', key, ...findLine(firstLine), differs };
      if (differs) counts.differing++;
      const examples = differs ? differing : alike;
      if (examples.length < maxExamples) examples.push({ line, detail });
      return detail;
    },
    bytes: firsts.bytes,
    repeated: () => ({ ...counts, examples: [...differing, ...alike].slice(0, maxExamples) }),
  };
}
