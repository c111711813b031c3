/** Ranges that are shown before the others are counted. */
const maxRanges = 4;

/** `request 7`, `requests 101–150`, or `52 requests (101–150, 160, 170)`. @param requests ascending */
export function formatRequests(requests: readonly number[]): string {
  const ranges = toRanges(requests);
  const [first] = ranges;
  if (requests.length === 1) return `request ${requests[0]}`;
  if (ranges.length === 1 && first) return `requests ${formatRange(first)}`;
  const shown = ranges.length > maxRanges ? ranges.slice(0, maxRanges - 1) : ranges;
  const more = ranges.length - shown.length;
  const texts = [...shown.map(formatRange), ...(more > 0 ? [`${more} more ranges`] : [])];
  return `${requests.length.toLocaleString('en')} requests (${texts.join(', ')})`;
}

type Range = readonly [first: number, last: number];

/** @param numbers ascending */
export function toRanges(numbers: readonly number[]): Range[] {
  const ranges: Range[] = [];
  for (const number of numbers) {
    const before = ranges.at(-1);
    if (before && number === before[1] + 1) ranges[ranges.length - 1] = [before[0], number];
    else ranges.push([number, number]);
  }
  return ranges;
}

function formatRange([first, last]: Range): string {
  return first === last ? String(first) : `${first}–${last}`;
}
