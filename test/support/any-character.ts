import fc from 'fast-check';

const surrogates = { first: 0xd800, count: 0x800 };

/**
 * Any Unicode character, as a unit of `fc.string`. Like fast-check's `binary`, which builds a table of all
 * characters in each process (1 s, 180 MB).
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(0x10ffff - surrogates.count).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (character) => {
    if (typeof character !== 'string' || [...character].length !== 1) throw new Error('not one character');
    const code = character.codePointAt(0) ?? 0;
    return code < surrogates.first ? code : code - surrogates.count;
  },
);
