import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  formatDestinations,
  listDestinations,
  removeDestinations,
  splitByRequest,
} from '../../src/domain/destinations.ts';
import { type Destination, destinationFields } from '../../src/domain/message.ts';
import { toStoredDestinations } from '../support/outgoing.ts';

/** Any text, including what could look like its end in JSON. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '"',
        '\\',
        '","',
        '\\"',
        ',',
        '\n',
        ',\n',
        '},\n{',
        '{}',
        '[',
        ']',
        '\u2028',
        'é',
        '💸',
        '\ud800',
      ),
    ),
    { maxLength: 5 },
  )
  .map((pieces) => pieces.join(''));

const fields = fc.record(Object.fromEntries(destinationFields.slice(1).map((name) => [name, text])), {
  requiredKeys: [],
});
const all: fc.Arbitrary<Destination[]> = fc.array(
  fc.oneof(fc.constant({}), fields).chain((others) => text.map((Recipient) => ({ Recipient, ...others }))),
  { minLength: 1, maxLength: 6 },
);

test('formatDestinations returns the same text as JSON.stringify', () => {
  fc.assert(
    fc.property(all, (destinations) => {
      expect(formatDestinations(toStoredDestinations(destinations))).toBe(JSON.stringify(destinations));
      expect(listDestinations(toStoredDestinations(destinations))).toEqual(destinations);
    }),
    { numRuns: 1_000, examples: [[[{ Recipient: '",' }, { Recipient: '' }, { Recipient: ',"' }]]] },
  );
});

test('splitByRequest gives each request its destinations in order, even if it has none', () => {
  const requests = fc.array(fc.oneof(all, fc.constant([])), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(requests, (each) => {
      const sizes = each.map(({ length }) => length);
      const divided = splitByRequest(toStoredDestinations(each.flat()), sizes);
      expect(divided.map(formatDestinations)).toEqual(each.map((own) => JSON.stringify(own)));
      expect(divided.map(listDestinations)).toEqual(each);
      expect(divided.map(({ count }) => count)).toEqual(sizes);
    }),
    { numRuns: 1_000 },
  );
});

test('removeDestinations removes the given destinations and keeps the others unchanged', () => {
  fc.assert(
    fc.property(all, fc.array(fc.nat({ max: 5 })), (destinations, removed) => {
      const left = destinations.filter((_, index) => !removed.includes(index));
      const stored = removeDestinations(toStoredDestinations(destinations), new Set(removed));
      expect(formatDestinations(stored)).toBe(JSON.stringify(left));
      expect(listDestinations(stored)).toEqual(left);
    }),
    { numRuns: 1_000 },
  );
});
