/** A contact list as customers send it: 2,539 rows of an exported sheet, with 75 typical mistakes. */

export type RealisticList = {
  /** As a spreadsheet program saves it: CRLF, and the sheet's name above the header. */
  readonly csv: string;
  /** E.164 numbers to reach, with the SubAccount that pays. */
  readonly reached: ReadonlyMap<string, string>;
  readonly counts: { readonly invalid: number; readonly duplicate: number };
  /** Wrong numbers in file order, with an operator's correction and its E.164 form. */
  readonly fixes: readonly { readonly wrong: string; readonly corrected: string; readonly number: string }[];
};

const rows = 2_539;
const mistakeEvery = 33;

type Subscriber = {
  /** Without the leading zero, such as 412000017. */
  readonly national: string;
  readonly index: number;
};

/** Unusual but valid spellings. */
const oddWritings: readonly ((person: Subscriber) => string)[] = [
  ({ national }) => `0${national}`,
  ({ national }) => `+61 ${national.slice(0, 3)} ${national.slice(3, 6)} ${national.slice(6)}`,
  ({ national }) => `(0${national.slice(0, 3)}) ${national.slice(3)}`,
  ({ national }) => `tel:+61${national}`,
  ({ national }) => `\uff0b61${national}`,
  ({ national }) => `\u202a+61${national}\u202c`,
  ({ national }) => `0${national.slice(0, 3)}\u00a0${national.slice(3)}`,
  ({ national }) => `0011 61 ${national}`,
  ({ national }) => `61${national}`,
];

/** Invalid spellings; each differs from row to row. */
const mistakes: readonly ((person: Subscriber) => string)[] = [
  ({ index }) => `6.${String(42_000 + index)}E+10`,
  ({ national }) => `="0${national}"`,
  ({ national }) => `'0${national}`,
  ({ national }) => `0${national.slice(0, -1)}O`,
  ({ national }) => `0${national.slice(0, 5)}`,
  ({ index }) => `ring me ${index}`,
  ({ index }) => `02 9${String(8_760_000 + index)}`,
  ({ national }) => `0${national} / 0${national}`,
];

/** Unique to each row. */
function subscriberOf(index: number): Subscriber {
  return { national: `412${String(100_000 + index)}`, index };
}

/** Parses no number: expectations and spellings are built from the same parts. */
export function realisticList(): RealisticList {
  const reached = new Map<string, string>();
  const fixes: { wrong: string; corrected: string; number: string }[] = [];
  const counts = { invalid: 0, duplicate: 0 };
  const lines = ['Outage contacts 2026-11', 'Mobile,First Name,Branch'];
  for (let index = 0; index < rows; index++) {
    const person = subscriberOf(index);
    const branch = `B${index % 7}`;
    const name = index % 40 === 3 ? '"O\u2019Brien, Zo\u00eb"' : `Name ${index}`;
    const number = `+61${person.national}`;
    const write = oddWritings[index % oddWritings.length];
    const mistakeNumber = Math.floor(index / mistakeEvery);
    if (index % mistakeEvery !== mistakeEvery - 1 || mistakeNumber >= 75) {
      reached.set(number, branch);
      lines.push(`${write?.(person)},${name},${branch}`);
      continue;
    }
    if (mistakeNumber % 9 === 8) {
      // Repeats the row before, spelt differently.
      counts.duplicate++;
      lines.push(`+61 ${subscriberOf(index - 1).national},${name},${branch}`);
      continue;
    }
    const wrong = mistakes[mistakeNumber % mistakes.length]?.(person) ?? '';
    counts.invalid++;
    fixes.push({ wrong, corrected: `0${person.national}`, number });
    const quoted = wrong.includes('"') ? `"${wrong.replaceAll('"', '""')}"` : wrong;
    lines.push(`${quoted},${name},${branch}`);
  }
  return { csv: `${lines.join('\r\n')}\r\n`, reached, counts, fixes };
}
