/** The letter or digit that a byte is, letters small; 0: none. Other letters end a word, as they do in every encoding. */
const wordBytes = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte).toLowerCase();
  return byte < 128 && /[a-z0-9]/.test(character) ? character.charCodeAt(0) : 0;
});

/** A quarter of a bit for each byte of a list: four to ten for each of its different words. */
const bytesPerFilterByte = 32;
const shortestWord = 2;

/** The words of a text, as far as they are ASCII letters and digits. */
export function filteredWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z0-9]{2,}/g) ?? [];
}

/**
 * A Bloom filter of the words in a text of any encoding that includes ASCII: 32 KB for a megabyte.
 *
 * @returns its bits, the lowest of each byte first; and the line ends of the text
 */
export function readWords(text: Uint8Array): { readonly words: Buffer; readonly lineEnds: number } {
  const words = Buffer.alloc(2 ** Math.max(0, Math.ceil(Math.log2(text.length / bytesPerFilterByte))));
  let lineEnds = 0;
  let hash = 0;
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const byte = text[index] ?? 0;
    const code = wordBytes[byte] ?? 0;
    if (code !== 0) {
      hash = addByte(hash, code);
      length++;
      continue;
    }
    if (length >= shortestWord) addWord(words, hash);
    hash = 0;
    length = 0;
    if (byte === 10 || (byte === 13 && text[index + 1] !== 10)) lineEnds++;
  }
  if (length >= shortestWord) addWord(words, hash);
  return { words, lineEnds };
}

function addWord(words: Buffer, hash: number): void {
  setBit(words, firstOf(hash));
  setBit(words, secondOf(hash));
}

function setBit(words: Buffer, bit: number): void {
  const place = (bit >>> 3) & (words.length - 1);
  words[place] = (words[place] ?? 0) | (1 << (bit & 7));
}

/** The bits of words, from 0 to 2³¹ − 1. A filter takes them modulo its number of bits. */
export function bitsOf(words: readonly string[]): readonly number[] {
  return words.flatMap((word) => {
    const hash = Buffer.from(word).reduce(addByte, 0);
    return [firstOf(hash) & 0x7fffffff, secondOf(hash) & 0x7fffffff];
  });
}

/** FNV-1a, of which the last bits say little. */
function addByte(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

function firstOf(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

function secondOf(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
