import type { Transaction } from '../session.ts';
import { mostSlots } from './enqueue.ts';

/** Not so few requests that a slice's bookkeeping counts, nor so many that the next run waits long for its turn. */
const least = 100;
const most = 2_000;

/** Requests that share no slice with others: all of a run without windows, else those of each window. */
export type SliceableRange = {
  readonly first: number;
  readonly last: number;
  readonly windowPlace: number | null;
};

/**
 * Cuts requests into slices. Slices that are worked at once share the processor and would end at once, and nothing would be in
 * flight until the next ones are claimed. So the first ones grow, and those that are left shrink towards the end (guided
 * self-scheduling), where no worker is to wait long for the last one.
 *
 * @param ranges one after the other, from request 1
 * @param canary requests of the first slice, where those are to be sent and waited for before any other; where its window
 *   has fewer, they are fewer
 */
export function cutIntoSlices(ranges: readonly SliceableRange[], canary: number | null): SliceableRange[] {
  const all = ranges.at(-1)?.last ?? 0;
  const full = Math.max(least, Math.min(most, Math.ceil(all / (2 * mostSlots))));
  const small = Math.max(least, Math.ceil(full / mostSlots));
  return ranges.flatMap(({ first, last, windowPlace }) => {
    const slices: SliceableRange[] = [];
    const cut = (from: number, requests: number): number => {
      const until = Math.min(from + requests - 1, last);
      slices.push({ first: from, last: until, windowPlace });
      return until + 1;
    };
    let next = first === 1 && canary !== null ? cut(first, canary) : first;
    for (let wanted = small; next <= last; wanted += small) {
      const shareOfRest = Math.ceil((last - next + 1) / mostSlots);
      next = cut(next, Math.max(small, Math.min(wanted, full, shareOfRest)));
    }
    return slices;
  });
}

/**
 * Writes a run's slices, none of them in the queue yet. The last one has no requests: it is the phase in which those in doubt
 * are settled, once all others are done.
 */
export async function planSlices(
  client: Transaction,
  run: string,
  ranges: readonly SliceableRange[],
  canary: number | null,
): Promise<void> {
  const slices = cutIntoSlices(ranges, canary);
  await client.query(
    `
    INSERT INTO slices (run_id, slice, phase, first_request, last_request, claimed_to, state, window_place)
    SELECT $1, slice, 'sending', first, last, first - 1, 'waiting', window_place
    FROM unnest($2::integer[], $3::integer[], $4::smallint[])
      WITH ORDINALITY AS cut (first, last, window_place, slice)
    UNION ALL
    SELECT $1, $5, 'settling doubts', NULL, NULL, NULL, 'waiting', NULL
    `,
    [
      run,
      slices.map(({ first }) => first),
      slices.map(({ last }) => last),
      slices.map(({ windowPlace }) => windowPlace),
      slices.length + 1,
    ],
  );
}
