import { toInstant } from '../platform/zoned-times.ts';
import type { ReceivedPeriod } from '../wire/follow-up-calls.ts';
import { isTime } from '../wire/wire-values.ts';

type PeriodRange =
  | { readonly kind: 'between'; readonly from: Date; readonly to: Date }
  | { readonly kind: 'refused'; readonly words: readonly string[] };

const minute = 60_000;
const week = 7 * 24 * 60 * minute;

/** The requested period (docs/reference/interfaces.md, "Versions 2.03 and 2.04"); by default the last day. */
export function parseReceivedPeriod(
  { timePeriod, dateFrom, dateTo }: ReceivedPeriod,
  zone: string,
  now: Date,
): PeriodRange {
  if (dateFrom === '' && dateTo === '') {
    const minutes = timePeriod === '' ? 1440 : Number(timePeriod);
    if (!/^\d*$/.test(timePeriod) || minutes < 1 || minutes > 1440) {
      return refused('timePeriod must be between 1 and 1440 minutes');
    }
    return { kind: 'between', from: new Date(now.getTime() - minutes * minute), to: now };
  }
  if (timePeriod !== '') return refused('Expected timePeriod or dateFrom and dateTo, not both');
  const [from, to] = [dateFrom, dateTo].map((text) => parseMoment(text, zone));
  if (!from || !to) return refused('dateFrom and dateTo must be times such as 2026-11-21 08:00:00');
  if (from > to || to.getTime() - from.getTime() > week) {
    return refused('dateTo must be at most 7 days after dateFrom');
  }
  return { kind: 'between', from, to };
}

function refused(words: string): PeriodRange {
  return { kind: 'refused', words: [words] };
}

/** Reads a time with a T or a blank; a date alone is its midnight. */
function parseMoment(text: string, zone: string): Date | undefined {
  const written = text.replace(' ', 'T');
  const time = written.includes('T') ? written : `${written}T00:00`;
  return isTime(time) ? toInstant(time, zone) : undefined;
}
