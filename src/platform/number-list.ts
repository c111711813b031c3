/** Millions of numbers from 0 to 2^32-1, in 4 bytes each. */
type NumberList = {
  readonly length: () => number;
  readonly push: (number: number) => number;
  readonly at: (index: number) => number;
  readonly set: (index: number, number: number) => void;
};

const pieceLength = 65_536;

export function createNumberList(): NumberList {
  const pieces: Uint32Array[] = [];
  let length = 0;
  const pieceOf = (index: number): Uint32Array => {
    const piece = pieces[Math.floor(index / pieceLength)];
    if (piece === undefined) throw new RangeError(`there is no number at ${index}`);
    return piece;
  };
  return {
    length: () => length,
    push(number) {
      if (length % pieceLength === 0) pieces.push(new Uint32Array(pieceLength));
      pieceOf(length)[length % pieceLength] = number;
      return length++;
    },
    at: (index) => pieceOf(index)[index % pieceLength] ?? 0,
    set(index, number) {
      pieceOf(index)[index % pieceLength] = number;
    },
  };
}
